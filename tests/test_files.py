"""What is written appears whole or not at all, and what was there before is not lost."""

import pytest

from enso_jax.files import OutputError, whole_file, whole_folder, whole_set


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


def write_pair(folder, text="new"):
    with whole_folder(folder) as staging:
        (staging / "inner").mkdir()
        (staging / "inner" / "a.txt").write_text(text)
        (staging / "b.txt").write_text("b")


def test_a_folder_appears_whole_and_is_written_once(tmp_path):
    write_pair(tmp_path / "deep" / "place")
    assert (tmp_path / "deep" / "place" / "inner" / "a.txt").read_text() == "new"
    assert [path.name for path in (tmp_path / "deep").iterdir()] == ["place"]
    write_pair(tmp_path / "deep" / "place")  # the same again is right
    assert [path.name for path in (tmp_path / "deep").iterdir()] == ["place"]


def test_a_folder_with_other_contents_is_left_alone(tmp_path):
    write_pair(tmp_path / "place")
    with pytest.raises(OutputError, match="place is there already with other contents"):
        write_pair(tmp_path / "place", text="other")
    assert (tmp_path / "place" / "inner" / "a.txt").read_text() == "new"
    assert [path.name for path in tmp_path.iterdir()] == ["place"]


def test_a_file_is_not_made_a_folder(tmp_path):
    (tmp_path / "place").write_text("old")
    with pytest.raises(OutputError, match="place is a file"):
        write_pair(tmp_path / "place")
    assert (tmp_path / "place").read_text() == "old"


def test_an_interrupted_folder_leaves_nothing(tmp_path):
    def interrupted():
        with whole_folder(tmp_path / "place") as staging:
            (staging / "a.txt").write_text("half of")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert list(tmp_path.iterdir()) == []
