"""A store keeps what was graded: nothing half, nothing twice, nothing under another's name."""

import json
import os
import random
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import graded
import pydantic
import pytest
from test_architecture import ROOT, part_of, parts_imported

from enso_jax.checkpoints import (
    GradedRun,
    Settings,
    Store,
    StoreError,
    engine_digest,
    open_store,
    result_key,
    unreadable_digest,
)
from enso_jax.checkpoints._store import ENGINE_PARTS
from enso_jax.files import OutputError
from enso_jax.submissions import InvalidSubmission

RESULT = graded.scored((0.7, 0.6, 0.3))
KEY = result_key("3" * 64, graded.SETTINGS)


@pytest.fixture
def store(tmp_path) -> Store:
    return open_store(tmp_path / "new" / "store")


# --- Keys ---------------------------------------------------------------------------------

OTHERS = {
    "engine": "0.1.1+0123456789ab",
    "protocol": "4" * 64,
    "observations": "4" * 64,
    "observations_name": "another record",
    "observations_kind": "simulated",
    "seed": 1,
    "replicates": 9,
    "engine_choice": "host",
    "months_at_1_january": 0.0,
}


def test_every_setting_has_another_value_here():
    assert OTHERS.keys() == Settings.model_fields.keys()


@pytest.mark.parametrize("name", OTHERS)
def test_a_key_depends_on_every_setting(name):
    changed = graded.changed(**{name: OTHERS[name]})
    assert changed.digest() != graded.SETTINGS.digest()
    assert result_key("3" * 64, changed) != KEY


def test_a_key_depends_on_the_submission_and_on_nothing_else():
    again = Settings.model_validate_json(graded.SETTINGS.model_dump_json())
    assert result_key("3" * 64, again) == KEY
    assert result_key("5" * 64, again) != KEY
    assert re.fullmatch("[0-9a-f]{64}", KEY)


def test_a_whole_number_of_months_is_the_same_however_it_is_written():
    one, other = (
        Settings.model_validate({**graded.SETTINGS.model_dump(), "months_at_1_january": value})
        for value in (1, 1.0)
    )
    assert one.digest() == other.digest()


def test_settings_refuse_what_they_do_not_know():
    for wrong in ({"seed": -1}, {"replicates": 0}, {"months_at_1_january": float("nan")}, {"x": 1}):
        with pytest.raises(pydantic.ValidationError):
            Settings.model_validate({**graded.SETTINGS.model_dump(), **wrong})


def test_a_submission_that_cannot_be_read_has_a_key_of_its_fault():
    faults = [
        InvalidSubmission("missing_file", "model.py is missing."),
        InvalidSubmission("missing_file", "params.json is missing."),
        InvalidSubmission("bad_params", "model.py is missing."),
    ]
    digests = [unreadable_digest(fault) for fault in faults]
    assert len(set(digests)) == len(faults)
    assert all(digest.startswith("unreadable-") for digest in digests)
    assert unreadable_digest(faults[0]) == digests[0]


def test_the_engines_digest_is_of_every_part_that_a_number_depends_on():
    """What `grading` reaches by its imports, but for how files are written."""
    reached, todo = set(), {"grading"}
    while todo:
        part = todo.pop()
        reached.add(part)
        for module in (path.relative_to(ROOT) for path in ROOT.rglob("*.py")):
            if part_of(module) == part:
                todo |= parts_imported(module) - reached
    assert reached - {"files"} == set(ENGINE_PARTS)


def test_the_engines_digest_is_the_same_in_another_process():
    code = "from enso_jax.checkpoints import engine_digest; print(engine_digest())"
    process = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert process.stdout.strip() == engine_digest()
    assert re.fullmatch(r"[0-9.]+\+[0-9a-f]{12}", engine_digest())


# --- What is kept -------------------------------------------------------------------------


def test_a_result_comes_back_as_it_was_and_lies_there_as_scores_json(store):
    assert store.result(KEY) is None
    store.keep(KEY, RESULT)
    assert store.result(KEY) == RESULT
    assert (store.folder / "results" / f"{KEY}.json").read_text() == RESULT.to_json()


def test_a_run_comes_back_as_it_was(store):
    assert store.runs() == []
    run = graded.keep(store, "System", [RESULT, graded.invalid()], condition="offline")
    assert open_store(store.folder).runs() == [run]
    (file,) = (store.folder / "runs").iterdir()
    assert file.name == f"{run.identity}-{graded.SETTINGS.digest()}.json"
    assert json.loads(file.read_text())["graded_at"] == "2026-01-01T12:00:00Z"


def test_a_run_replaces_itself_and_no_run_under_other_settings(store):
    graded.keep(store, "System", [RESULT])
    longer = graded.keep(store, "System", [RESULT, RESULT])
    other = graded.keep(store, "System", [RESULT], graded.changed(seed=1))
    found = store.runs()
    assert len(found) == 2
    assert longer in found
    assert other in found


def test_a_time_without_a_zone_is_refused():
    with pytest.raises(pydantic.ValidationError, match="timezone"):
        GradedRun.model_validate(
            {
                "name": "a",
                "system": "a",
                "condition": None,
                "identity": "a",
                "settings": graded.SETTINGS,
                "graded_at": "2026-01-01T12:00:00",
                "checkpoints": [],
            }
        )


@pytest.mark.parametrize("content", [b"", b"{", b"{}", b"\xff", RESULT.to_json()[:-40].encode()])
def test_a_result_that_cannot_be_read_is_computed_again(store, content):
    path = store.folder / "results" / f"{KEY}.json"
    path.write_bytes(content)
    assert store.result(KEY) is None
    store.keep(KEY, RESULT)
    assert store.result(KEY) == RESULT


def test_a_result_that_is_a_folder_is_computed_again(store):
    (store.folder / "results" / f"{KEY}.json").mkdir()
    assert store.result(KEY) is None


@pytest.mark.parametrize("content", ["{", "{}", '{"schema_version": 2}'])
def test_a_run_that_cannot_be_read_is_named_in_a_sentence(store, content):
    (store.folder / "runs" / "abc-def.json").write_text(content)
    with pytest.raises(StoreError, match=r"abc-def.json is not a graded run of schema version 1"):
        store.runs()


def test_a_folder_that_is_no_store_is_refused_in_a_sentence(tmp_path):
    with pytest.raises(StoreError, match="is no store: give the folder that enso-jax grade-run"):
        Store(tmp_path).runs()
    with pytest.raises(StoreError, match="nowhere does not exist"):
        Store(tmp_path / "nowhere").runs()


def test_a_place_that_cannot_be_written_is_refused_before_the_work(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(OutputError, match="file cannot be used as a store"):
        open_store(tmp_path / "file")


# --- Processes that end before their work -------------------------------------------------


def test_opening_sweeps_what_was_abandoned_and_nothing_else(store):
    hour_ago = time.time() - 3700
    for place in ("results", "runs"):
        for name in (".old.json", ".young.json", "kept.json", ".nfs0001"):
            path = store.folder / place / name
            path.write_text("")
            if name != ".young.json":
                os.utime(path, (hour_ago, hour_ago))
    open_store(store.folder)
    for place in ("results", "runs"):
        left = sorted(path.name for path in (store.folder / place).iterdir())
        assert left == [".nfs0001", ".young.json", "kept.json"]


WRITER = """
import sys
from pathlib import Path
import graded
from enso_jax.checkpoints import open_store

store = open_store(Path(sys.argv[1]))
results = [graded.scored((place / 40, 0.5, 0.5)) for place in range(40)]
print("writing", flush=True)
while True:
    graded.keep(store, "System", results)
"""


def test_processes_that_are_killed_while_they_write_leave_nothing_half(tmp_path):
    """Two at once on one store, killed at random moments; the survivors' view is always whole."""
    rng = random.Random(0)
    expected = [graded.scored((place / 40, 0.5, 0.5)) for place in range(40)]
    for _ in range(3):
        writers = [
            subprocess.Popen(
                [sys.executable, "-c", WRITER, str(tmp_path)],
                stdout=subprocess.PIPE,
                text=True,
                env={**os.environ, "PYTHONPATH": os.pathsep.join(_import_path())},
            )
            for _ in range(2)
        ]
        for writer in writers:
            assert writer.stdout is not None
            assert writer.stdout.readline() == "writing\n"
        for writer in writers:
            time.sleep(rng.uniform(0.0, 0.3))
            assert writer.poll() is None, "it was still writing"
            writer.send_signal(signal.SIGKILL)
        for writer in writers:
            assert writer.wait() == -signal.SIGKILL
            assert writer.stdout is not None
            writer.stdout.close()
        _require_whole(Store(tmp_path), expected)


def _require_whole(store: Store, expected: list) -> None:
    """Every result and run that is there is one that was written, in full and under its name."""
    keys = [result_key(f"system {place}", graded.SETTINGS) for place in range(len(expected))]
    place_of = {key: place for place, key in enumerate(keys)}
    there = [path.stem for path in _visible(store.folder / "results")]
    assert there
    for key in there:
        assert store.result(key) == expected[place_of[key]]
    for run in store.runs():
        assert [checkpoint.key for checkpoint in run.checkpoints] == keys
        assert all(store.result(key) is not None for key in keys)


def _visible(folder: Path) -> list[Path]:
    return [path for path in folder.iterdir() if path.name[0] != "."]


def _import_path() -> list[str]:
    return [str(Path(graded.__file__).parent), str(ROOT.parent)]
