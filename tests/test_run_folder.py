"""A run is read from either layout, whole, in order, and whatever its checkpoints are worth."""

import json
import re
from pathlib import Path

import pytest

from enso_jax.checkpoints import RunError, read_run

EXAMPLE = {"index": 7, "eligible_s": 123.5, "phase": "C", "turn": 4, "digest": "0" * 64}


def submission(folder: Path, about: object = None) -> Path:
    """The files of a submission, and beside them what the harness says of it."""
    folder.mkdir(parents=True)
    for name in ("model.py", "params.json", "MODEL_CARD.md"):
        (folder / name).write_text("{}")
    if about is not None:
        text = about if isinstance(about, str) else json.dumps(about)
        (folder / "checkpoint.json").write_text(text)
    return folder


def names(folder: Path) -> list[str]:
    return [checkpoint.name for checkpoint in read_run(folder).checkpoints]


@pytest.fixture
def run(tmp_path) -> Path:
    """A run as the harness leaves it."""
    lock = {
        "system": {"agent": "Claude Code", "model": "Claude Fable 5.1"},
        "condition": "offline",
        "digests": {},
    }
    folder = tmp_path / "fable-a"
    submission(folder / "checkpoints" / "0001", EXAMPLE)
    (folder / "lock.json").write_text(json.dumps(lock))
    (folder / "workspace").mkdir()
    return folder


def test_a_run_of_the_harness_says_whose_it_is_and_when(run):
    found = read_run(run)
    assert (found.name, found.system, found.condition) == (
        "fable-a",
        "Claude Fable 5.1",
        "offline",
    )
    (only,) = found.checkpoints
    assert (only.name, only.index, only.eligible_s, only.phase, only.turn) == (
        "0001",
        7,
        123.5,
        "C",
        4,
    )
    assert (only.folder / "model.py").exists()


def test_a_plain_folder_is_read_in_natural_order(tmp_path):
    for name in ("v10", "v2", "v1", "v1b", "final"):
        submission(tmp_path / "mine" / name)
    found = read_run(tmp_path / "mine")
    assert names(tmp_path / "mine") == ["final", "v1", "v1b", "v2", "v10"]
    assert [checkpoint.index for checkpoint in found.checkpoints] == [1, 2, 3, 4, 5]
    assert (found.name, found.system, found.condition) == ("mine", "mine", None)
    assert {checkpoint.eligible_s for checkpoint in found.checkpoints} == {None}


def test_a_plain_folder_skips_what_is_no_submission_and_keeps_a_broken_one(tmp_path):
    submission(tmp_path / "good")
    submission(tmp_path / ".hidden")
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "ideas.txt").write_text("")
    (tmp_path / "without-model").mkdir()
    (tmp_path / "without-model" / "params.json").write_text("{}")
    (tmp_path / "README.md").write_text("")
    assert names(tmp_path) == ["good", "without-model"]


def test_a_run_of_the_harness_keeps_every_checkpoint_but_unfinished_ones(run):
    (run / "checkpoints" / "0002").mkdir()
    submission(run / "checkpoints" / ".0003.part")
    assert names(run) == ["0001", "0002"]


@pytest.mark.parametrize(
    "about",
    [
        None,
        "",
        "{",
        "[]",
        "[" * 100_000,
        {},
        {**EXAMPLE, "eligible_s": "soon"},
        {**EXAMPLE, "eligible_s": -1},
        '{"eligible_s": NaN}',
    ],
    ids=lambda about: str(about)[:30],
)
def test_a_checkpoint_without_a_readable_time_stays_in_its_place(run, about):
    submission(run / "checkpoints" / "0002", about)
    submission(run / "checkpoints" / "0003", EXAMPLE)
    _, second, third = read_run(run).checkpoints
    assert (second.name, second.index, second.eligible_s, second.phase) == ("0002", 2, None, None)
    assert third.eligible_s == EXAMPLE["eligible_s"]


@pytest.mark.parametrize(
    ("system", "shown"),
    [
        ({"agent": "Codex", "model": "GPT-5.5"}, "GPT-5.5"),
        ({"agent": "Codex"}, "Codex"),
        ({"agent": "Codex", "model": None}, "Codex"),
        ("Kimi K3", "Kimi K3"),
        ({"agent": "two\nlines"}, "two lines"),
        ({}, "fable-a"),
        (None, "fable-a"),
        ([1], "fable-a"),
    ],
)
def test_a_system_is_called_by_its_model_else_its_agent_else_its_folder(run, system, shown):
    (run / "lock.json").write_text(json.dumps({"system": system}))
    assert read_run(run).system == shown


def test_a_lock_that_is_broken_still_tells_runs_apart(run):
    whole = read_run(run)
    (run / "lock.json").write_text("{")
    broken = read_run(run)
    assert broken.system == "fable-a"
    assert broken.identity != whole.identity


def test_a_run_of_the_harness_is_the_same_one_wherever_it_lies(run, tmp_path):
    before = read_run(run)
    moved = run.rename(tmp_path / "elsewhere")
    assert read_run(moved).identity == before.identity
    (moved / "lock.json").write_text('{"condition": "web"}')
    assert read_run(moved).identity != before.identity


def test_a_plain_folder_is_the_same_run_however_it_is_named(tmp_path, monkeypatch):
    submission(tmp_path / "mine" / "v1")
    submission(tmp_path / "yours" / "v1")
    monkeypatch.chdir(tmp_path / "mine")
    assert read_run(Path()).identity == read_run(Path("..", "mine")).identity
    assert read_run(Path()).name == "mine"
    assert read_run(Path("../yours")).identity != read_run(Path()).identity
    assert re.fullmatch("[0-9a-f]{16}", read_run(Path()).identity)


def test_a_name_that_is_no_text_can_still_be_shown(tmp_path):
    folder = tmp_path / "\udcff"
    submission(folder / "v\udcff")
    found = read_run(folder)
    assert found.system.encode("utf-8")
    assert found.checkpoints[0].name.encode("utf-8")
    assert (found.checkpoints[0].folder / "model.py").exists()


def test_one_submission_is_no_run(tmp_path):
    folder = submission(tmp_path / "mine")
    with pytest.raises(RunError, match="is one submission: use enso-jax grade"):
        read_run(folder)


def test_what_is_no_run_is_refused_in_a_sentence(tmp_path):
    (tmp_path / "file").write_text("")
    (tmp_path / "empty" / "checkpoints").mkdir(parents=True)
    (tmp_path / "notes" / "ideas").mkdir(parents=True)
    for name, words in {
        "file": "is a file: give the folder of a run",
        "nowhere": "does not exist: give the folder of a run",
        "empty": "holds no checkpoints",
        "notes": "holds no checkpoints",
    }.items():
        with pytest.raises(RunError, match=words) as refused:
            read_run(tmp_path / name)
        assert str(tmp_path / name) in str(refused.value)
