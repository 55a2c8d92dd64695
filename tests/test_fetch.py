"""Does everything come from a server that stands in for NOAA, whole, once, or with a sentence?"""

import dataclasses
import json
import resource
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import netCDF4
import numpy as np
import pytest
from noaa_server import StandIn, serving
from ten_years import RECIPE, ten_years

from enso_jax.files import OutputError
from enso_jax.observations import ObservationError
from enso_jax.observations.fetch import (
    LEDGER,
    FetchError,
    Server,
    _fetch,
    _products,
    check_unchanged,
    download,
    fetch,
    plan,
)
from enso_jax.observations.fields import Box, field_of
from enso_jax.observations.indices import Periods, build
from enso_jax.observations.synthetic import write_fields

LAST_YEAR = 1984
PATHS = {
    "sst": "noaa.ersst.v5/{}",
    "pottmp": "godas/{}",
    "ucur": "godas/{}",
    "uwnd": "ncep.reanalysis/Dailies/pressure/{}",
}


@pytest.fixture(scope="module")
def noaas_files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Small fields by their path at NOAA, and the two long series."""
    folder = tmp_path_factory.mktemp("noaa")
    files = {
        PATHS[path.name.split(".")[0]].format(path.name): path
        for path in write_fields(ten_years(), folder)
    }
    for name in ("nino3", "nino4"):
        path = folder / f"{name}.long.anom.data"
        rows = [f"{year} " + " ".join(["0.10"] * 12) for year in range(1950, 1990)]
        path.write_text("\n".join(["1950 1989", *rows, "-99.99", "HadISST1"]) + "\n")
        files[path.name] = path
    return files


@pytest.fixture
def noaa(noaas_files: dict[str, Path], monkeypatch: pytest.MonkeyPatch) -> Iterator[StandIn]:
    """A server with them, and a list of products that begins with their first year."""
    first = {"sst": 1978}
    products = tuple(
        dataclasses.replace(product, first_year=first.get(product.name, 1980))
        for product in _products.PRODUCTS
    )
    monkeypatch.setattr(_products, "PRODUCTS", products)
    with serving(noaas_files) as stand_in:
        yield stand_in


def bring(
    folder: Path, noaa: StandIn, way: str = "opendap", last_year: int = LAST_YEAR
) -> list[tuple[int, str]]:
    came: list[tuple[int, str]] = []
    planned = plan(folder, last_year, way, noaa.server)
    fetch(planned, lambda count, file: came.append((count, file)), wait_s=0.0)
    return came


def refusal(folder: Path, noaa: StandIn, way: str = "opendap") -> str:
    with pytest.raises((FetchError, OutputError)) as caught:
        bring(folder, noaa, way)
    sentence = str(caught.value)
    assert "\n" not in sentence
    assert sentence.endswith(".")
    return sentence


@pytest.mark.parametrize("way", ["opendap", "http"])
def test_what_was_fetched_builds_the_indices_that_the_server_has(
    noaa: StandIn, tmp_path: Path, way: str
) -> None:
    bring(tmp_path, noaa, way, last_year=1987)
    periods = Periods(long=(1978, 1987), development=(1980, 1985), held_out=(1986, 1987))
    check_unchanged(tmp_path)
    built = build(tmp_path, periods, RECIPE)
    truth = ten_years()
    expected = np.concatenate([truth.development.values, truth.held_out.values])
    assert np.abs(built.values - expected).max(axis=0) == pytest.approx(0, abs=5e-3)
    assert built.record.long.values == pytest.approx(0.1)
    assert sorted(path.name for path in tmp_path.iterdir() if path.name.startswith(".")) == []


def test_both_ways_keep_the_same_part_and_no_more(noaa: StandIn, tmp_path: Path) -> None:
    for way in ("opendap", "http"):
        bring(tmp_path / way, noaa, way)
    for path in (tmp_path / "opendap").glob("*.nc"):
        with netCDF4.Dataset(path) as one, netCDF4.Dataset(tmp_path / "http" / path.name) as other:
            assert one.variables.keys() == other.variables.keys()
            for name in one.variables:
                assert np.ma.allequal(one[name][:], other[name][:])
    (block,) = field_of("sst", [tmp_path / "http" / "sst.mnmean.nc"]).blocks(Box(160.0, 210.0))
    assert block.values.shape[0] == 84
    with netCDF4.Dataset(tmp_path / "http" / "sst.mnmean.nc") as kept:
        assert kept["lon"][:].min() >= 116
        assert kept["sst"].missing_value < -9e36


def test_sizes_are_told_before_anything_comes(noaa: StandIn, tmp_path: Path) -> None:
    planned = plan(tmp_path, LAST_YEAR, "http", noaa.server)
    assert len(planned.missing) == len(planned.wanted) == 1 + 3 * 5 + 2
    assert {method for method, _, _ in noaa.requests} == {"HEAD"}
    whole = [
        sum(len(content) for path, content in noaa.files.items() if path.endswith(piece.file))
        for piece in planned.missing
    ]
    assert planned.bytes == pytest.approx(sum(whole), rel=0.1)
    noaa.requests.clear()
    assert plan(tmp_path, LAST_YEAR, "opendap", noaa.server).bytes > 0
    assert noaa.requests == []


def test_checksums_are_kept_and_nothing_comes_twice(noaa: StandIn, tmp_path: Path) -> None:
    bring(tmp_path, noaa)
    ledger = json.loads((tmp_path / LEDGER).read_text())["files"]
    assert len(ledger) == 18
    assert ledger["pottmp.1983.nc"]["from"].endswith("/files/godas/pottmp.1983.nc")
    noaa.requests.clear()
    assert bring(tmp_path, noaa) == []
    assert noaa.requests == []


def test_a_changed_file_is_refused_by_the_build_and_fetched_again(
    noaa: StandIn, tmp_path: Path
) -> None:
    bring(tmp_path, noaa)
    path = tmp_path / "ucur.1982.nc"
    original = path.read_bytes()
    path.write_bytes(original[:-1] + bytes([original[-1] ^ 1]))
    with pytest.raises(ObservationError, match=r"ucur\.1982\.nc: is not as it was fetched"):
        check_unchanged(tmp_path)
    planned = plan(tmp_path, LAST_YEAR, server=noaa.server)
    assert planned.changed == ("ucur.1982.nc",)
    fetch(planned)
    check_unchanged(tmp_path)


def test_a_later_last_year_fetches_what_it_adds(noaa: StandIn, tmp_path: Path) -> None:
    bring(tmp_path, noaa)
    planned = plan(tmp_path, LAST_YEAR + 1, server=noaa.server)
    assert [piece.file for piece in planned.missing] == [
        "sst.mnmean.nc",
        "pottmp.1985.nc",
        "ucur.1985.nc",
        "uwnd.1985.nc",
    ]
    assert planned.changed == ()


@pytest.mark.parametrize("way", ["opendap", "http"])
def test_a_missing_year_is_named_and_the_rest_is_kept(
    noaa: StandIn, tmp_path: Path, way: str
) -> None:
    noaa.missing.add("godas/ucur.1984.nc")
    assert "ucur.1984.nc" in refusal(tmp_path, noaa, way)
    assert (tmp_path / "ucur.1983.nc").exists()
    noaa.missing.clear()
    noaa.requests.clear()
    bring(tmp_path, noaa, way)
    assert not any("pottmp" in path for method, path, _ in noaa.requests if method == "GET")


@pytest.mark.parametrize("way", ["opendap", "http"])
def test_an_error_page_is_no_data(noaa: StandIn, tmp_path: Path, way: str) -> None:
    noaa.pages.add("godas/pottmp.1981.nc")
    sentence = refusal(tmp_path, noaa, way)
    assert "pottmp.1981.nc" in sentence
    assert ("is no OPeNDAP server" if way == "opendap" else "it is a web page") in sentence
    assert not (tmp_path / "pottmp.1981.nc").exists()
    assert not list(tmp_path.glob(".whole-*"))


def test_an_error_page_is_no_long_series(noaa: StandIn, tmp_path: Path) -> None:
    noaa.pages.add("nino4.long.anom.data")
    assert "nino4.long.anom.data: not a long series" in refusal(tmp_path, noaa)
    assert not (tmp_path / "nino4.long.anom.data").exists()


@pytest.mark.parametrize("way", ["opendap", "http"])
def test_a_connection_that_drops_a_few_times_is_tried_again(
    noaa: StandIn, tmp_path: Path, way: str
) -> None:
    noaa.drops["godas/pottmp.1982.nc"] = (2, 5000)
    bring(tmp_path, noaa, way)
    assert (tmp_path / "pottmp.1982.nc").exists()


def test_a_connection_that_keeps_dropping_is_a_sentence(noaa: StandIn, tmp_path: Path) -> None:
    noaa.drops["godas/pottmp.1982.nc"] = (1000, 0)
    assert "pottmp.1982.nc" in refusal(tmp_path, noaa)
    assert not (tmp_path / "pottmp.1982.nc").exists()
    assert (tmp_path / "pottmp.1981.nc").exists()


def test_a_broken_download_goes_on_where_it_was(noaa: StandIn, tmp_path: Path) -> None:
    name = "godas/pottmp.1982.nc"
    whole = noaa.files[name]
    noaa.drops[name] = (1, 10_000)
    target = tmp_path / "whole.nc"
    address = f"{noaa.address}/files/{name}"
    with pytest.raises(FetchError, match=f"10000 of {len(whole)} bytes have come"):
        download(address, target)
    assert not target.exists()
    came: list[int] = []
    download(address, target, came.append)
    assert target.read_bytes() == whole
    assert sum(came) == len(whole) - 10_000
    assert noaa.requests[-1] == ("GET", f"/files/{name}", "bytes=10000-")


def test_a_server_without_ranges_sends_all_again(noaa: StandIn, tmp_path: Path) -> None:
    name = "godas/pottmp.1982.nc"
    noaa.drops[name] = (1, 10_000)
    noaa.ranges = False
    with pytest.raises(FetchError):
        download(f"{noaa.address}/files/{name}", tmp_path / "whole.nc")
    download(f"{noaa.address}/files/{name}", tmp_path / "whole.nc")
    assert (tmp_path / "whole.nc").read_bytes() == noaa.files[name]


def test_parts_of_two_versions_are_never_joined(noaa: StandIn, tmp_path: Path) -> None:
    name = "godas/pottmp.1982.nc"
    noaa.drops[name] = (1, 10_000)
    with pytest.raises(FetchError):
        download(f"{noaa.address}/files/{name}", tmp_path / "whole.nc")
    noaa.files[name] = b"a newer version" * 2000
    download(f"{noaa.address}/files/{name}", tmp_path / "whole.nc")
    assert (tmp_path / "whole.nc").read_bytes() == noaa.files[name]
    assert [path.name for path in tmp_path.iterdir()] == ["whole.nc"]


def test_a_truncated_file_on_the_server_is_named(noaa: StandIn, tmp_path: Path) -> None:
    name = "godas/ucur.1981.nc"
    noaa.files[name] = noaa.files[name][:4000]
    sentence = refusal(tmp_path, noaa, "http")
    assert name in sentence
    assert "truncated" in sentence


def test_no_network_is_a_sentence_that_says_what_to_do(tmp_path: Path) -> None:
    nowhere = Server(*["http://127.0.0.1:9/nothing"] * 3)
    planned = plan(tmp_path, 2024, server=nowhere)
    with pytest.raises(FetchError, match=r"127\.0\.0\.1:9 cannot be reached \(.*\); connect to"):
        fetch(planned, wait_s=0.0)
    with pytest.raises(FetchError, match="cannot be reached"):
        plan(tmp_path, 2024, "http", nowhere)


def test_a_disk_without_room_is_told_before_anything_comes(
    noaa: StandIn, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    usage = _fetch.shutil.disk_usage(tmp_path)
    monkeypatch.setattr(_fetch.shutil, "disk_usage", lambda path: usage._replace(free=1000))
    assert "make room" in refusal(tmp_path, noaa)
    assert noaa.requests == []


def test_a_disk_that_fills_up_is_a_sentence_and_leaves_no_half_file(
    noaa: StandIn, tmp_path: Path
) -> None:
    """The kernel refuses more than 20 kB a file, in a process of its own."""
    code = f"""
import resource, sys
from pathlib import Path
from enso_jax.observations.fetch import Server, _ways, download
from enso_jax.observations.fetch._products import pieces
from enso_jax.files import OutputError
resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))
folder = Path({str(tmp_path)!r})
piece = next(p for p in pieces(Server(*{dataclasses.astuple(noaa.server)!r}), 1987)
             if p.file == "pottmp.1983.nc")
for way in _ways.WAYS.values():
    try:
        way(piece, folder / piece.file, lambda count: None)
    except OutputError as error:
        print(error)
"""
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    found = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=60
    )
    assert resource.getrlimit(resource.RLIMIT_FSIZE) == limits
    assert found.stderr == ""
    assert found.stdout.count("cannot be written (File too large)") == 2
    assert not (tmp_path / "pottmp.1983.nc").exists()
