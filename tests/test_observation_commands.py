"""`enso-jax observations fetch`, `build` and `check` as a user meets them."""

import dataclasses
import json
import subprocess
import sys
from pathlib import Path

import pytest
from noaa_server import serving

from enso_jax import cli
from enso_jax.observations import fetch, installed_folder, nature_run, read_record
from enso_jax.observations.fetch import _fetch, _products
from enso_jax.observations.synthetic import write_fields


@pytest.fixture(autouse=True)
def _no_record_of_the_users(monkeypatch, tmp_path):
    monkeypatch.delenv("ENSO_OBSERVATIONS", raising=False)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.setenv("JAX_COMPILATION_CACHE_DIR", "the one that conftest.py chose")
    monkeypatch.setenv("COLUMNS", "200")


@pytest.fixture
def run(monkeypatch, capsys):
    """Runs a command line in this process; gives its exit status, stdout and stderr."""

    def command(*arguments: object) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["enso-jax", "observations", *map(str, arguments)])
        with pytest.raises(SystemExit) as ended:
            cli.main()
        captured = capsys.readouterr()
        return ended.value.code or 0, captured.out, captured.err

    return command


@pytest.fixture(scope="module")
def raw(tmp_path_factory) -> Path:
    """Fields whose indices are the nature run's, in NOAA's layouts."""
    folder = tmp_path_factory.mktemp("raw")
    write_fields(nature_run(), folder)
    return folder


@pytest.fixture(scope="module")
def record(raw, tmp_path_factory) -> Path:
    """The record built from them by the command."""
    folder = tmp_path_factory.mktemp("built") / "record"
    words = ["observations", "build", str(raw), "--out", str(folder)]
    subprocess.run([sys.executable, "-m", "enso_jax", *words], check=True, capture_output=True)
    return folder


def test_build_makes_a_folder_that_every_other_command_reads(record, run):
    status, stdout, _ = run("show", "--observations", record)
    assert status == 0
    assert "synthetic-2024" in stdout
    assert (record / "indices.nc").exists()
    assert read_record(record).peaks is not None


def test_build_refuses_to_overwrite(raw, record, run):
    status, stdout, stderr = run("build", raw, "--out", record)
    assert (status, stdout) == (2, "")
    assert "is not empty" in stderr


def test_build_says_that_the_held_out_period_is_not_covered(raw, run, tmp_path):
    status, _, stderr = run("build", raw, "--out", tmp_path / "record", "--last-year", "2026")
    assert status == 0
    assert "sst ends in 2024-12; the last 24 held-out months are missing" in stderr


def test_build_anonymizes(raw, run, tmp_path):
    status, stdout, _ = run("build", raw, "--out", tmp_path / "record", "--anonymize")
    assert status == 0
    assert "anonymous (simulated)" in stdout
    assert read_record(tmp_path / "record").held_out.labels[0] == "0066-01"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["build", "/no/such/folder", "--out", "x"], "/no/such/folder: not a folder"),
        (["build", "."], "--out"),
        (["check", "/no/such/file.csv"], "/no/such/file.csv: cannot be read"),
        (["fetch", "--by", "post"], "--by"),
        (["fetch", "--last-year", "1990"], "--last-year"),
    ],
)
def test_bad_input_is_one_sentence_and_status_2(run, arguments, words):
    status, stdout, stderr = run(*arguments)
    assert status == 2
    assert stdout == ""
    assert words in stderr
    assert stderr.count("\n") == 1


def test_check_passes_the_records_own_indices(record, run):
    for name in ("development.csv", "indices.nc"):
        status, stdout, _ = run("check", record / name, "--observations", record)
        assert status == 0
        assert stdout.splitlines()[-1] == "pass"


def test_check_fails_a_flipped_sign_and_names_it(record, run, tmp_path):
    lines = (record / "development.csv").read_text().splitlines()
    rows = [line.split(",") for line in lines[1:]]
    flipped = [",".join([*row[:5], repr(-float(row[5]))]) for row in rows]
    path = tmp_path / "mine.csv"
    path.write_text("\n".join(["month,T_C,T_E,h_W,u,tau", *flipped]) + "\n")
    status, stdout, _ = run("check", path, "--observations", record, "--explain")
    assert status == 1
    assert "tau: flipped sign: the sign is the opposite one." in stdout
    assert stdout.splitlines()[-1].startswith("fail: tau differ from the reference; tau differs")
    status, stdout, stderr = run("check", path, "--observations", record, "--explain", "--json")
    found = json.loads(stdout)
    assert (status, stderr) == (1, "")
    assert found["explanations"]["tau"]["pitfall"] == "flipped sign"
    assert [name for name, index in found["indices"].items() if not index["passed"]] == ["tau"]


def test_check_explains_with_the_fields(raw, record, run, tmp_path):
    from enso_jax.observations.check import FIELD_PITFALLS
    from enso_jax.observations.fields import find_fields
    from enso_jax.observations.indices import Recipe, anomalies, monthly_index

    wrong = FIELD_PITFALLS[0].wrong(Recipe(), "h_W")
    index = monthly_index(find_fields(raw).field("pottmp"), "h_W", wrong)
    values, _ = anomalies(index.values, index.first_month, (1981, 2010), "h_W")
    lines = (record / "development.csv").read_text().splitlines()
    rows = [line.split(",")[:6] for line in lines[1:]]
    for row, value in zip(rows, values, strict=False):
        row[3] = repr(float(value))
    path = tmp_path / "mine.csv"
    path.write_text("\n".join(["month,T_C,T_E,h_W,u,tau", *map(",".join, rows)]) + "\n")
    status, stdout, _ = run("check", path, "--observations", record, "--explain", "--raw", raw)
    assert status == 1
    assert "h_W: missing cosine weights" in stdout


@pytest.fixture
def noaa(raw, monkeypatch):
    """A server with the last years of the fields, and products that begin with them."""
    paths = {
        "sst": "noaa.ersst.v5/{}",
        "pottmp": "godas/{}",
        "ucur": "godas/{}",
        "uwnd": "ncep.reanalysis/Dailies/pressure/{}",
    }
    served = {
        paths[path.name.split(".")[0]].format(path.name): path
        for path in raw.glob("*.nc")
        if "sst" in path.name or int(path.name.split(".")[1]) >= 2023
    }
    products = tuple(
        product if product.name == "sst" else dataclasses.replace(product, first_year=2023)
        for product in _products.PRODUCTS
    )
    monkeypatch.setattr(_products, "PRODUCTS", products)
    monkeypatch.setattr(_products, "_SERIES", ())
    with serving(served) as stand_in:
        monkeypatch.setattr(_fetch, "NOAA", stand_in.server)
        yield stand_in


def test_fetch_tells_the_size_builds_and_installs(noaa, raw, run, tmp_path):
    kept = tmp_path / "kept"
    kept.mkdir()
    for path in raw.glob("*.nc"):  # what an earlier fetch has brought
        if "sst" not in path.name and int(path.name.split(".")[1]) < 2023:
            (kept / path.name).write_bytes(path.read_bytes())
    for _ in range(2):
        status, stdout, stderr = run("fetch", "--out", kept)
        assert status == 0, stderr
        assert stdout == ""
        assert "MB in" in stderr
        assert f"is installed in {installed_folder()}" in stderr
    assert "0 files go to" in stderr
    status, stdout, _ = run("show")
    assert "synthetic-2024" in stdout
    assert [path.name for path in installed_folder().parent.iterdir()] == ["observations"]


def test_fetch_without_a_network_says_so(run, monkeypatch, tmp_path):
    nowhere = fetch.Server(*["http://127.0.0.1:9"] * 3)
    monkeypatch.setattr(_fetch, "NOAA", nowhere)
    monkeypatch.setattr(_fetch, "_with_patience", lambda bring, wait_s: bring())
    status, stdout, stderr = run("fetch", "--out", tmp_path / "raw")
    assert (status, stdout) == (2, "")
    assert stderr.count("\n") == 2  # the size, and the sentence
    assert "cannot be reached" in stderr
    assert "enso-jax observations build RAW" in stderr
