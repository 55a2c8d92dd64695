"""What is written appears whole or not at all, and what was there before is not lost."""

import pytest

from enso_jax.files import OutputError, whole_file, whole_set


def test_a_set_replaces_the_one_before_and_nothing_else(tmp_path):
    for name in ("scores.json", "evidence.nc", "notes.txt"):
        (tmp_path / name).write_text("old")
    with whole_set(tmp_path, ["evidence.nc", "scores.json"]) as staging:
        (staging / "scores.json").write_text("new")
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {
        "scores.json": "new",
        "notes.txt": "old",
    }


@pytest.mark.parametrize("error", [KeyboardInterrupt, ValueError])
def test_an_interrupted_set_leaves_what_was_there(tmp_path, error):
    (tmp_path / "scores.json").write_text("old")

    def interrupted():
        with whole_set(tmp_path, ["scores.json"]) as staging:
            (staging / "scores.json").write_text("half of")
            raise error

    with pytest.raises(error):
        interrupted()
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {"scores.json": "old"}


def test_an_interrupted_file_leaves_what_was_there(tmp_path):
    (tmp_path / "a.txt").write_text("old")

    def interrupted():
        with whole_file(tmp_path / "a.txt") as unfinished:
            unfinished.write_text("half of")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {"a.txt": "old"}


@pytest.mark.parametrize("writing", [whole_file, lambda path: whole_set(path, ["scores.json"])])
def test_a_full_disk_is_one_sentence_that_names_the_place(tmp_path, writing):
    with pytest.raises(OutputError, match=r"place cannot be written \(No space left"):  # noqa: SIM117
        with writing(tmp_path / "place"):
            raise OSError(28, "No space left on device")


def test_a_folder_that_cannot_be_made_is_refused_on_entry(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(OutputError, match="Not a directory"):
        whole_set(tmp_path / "file" / "folder", []).__enter__()
