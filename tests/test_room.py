"""A process that grades many structures keeps no more programs than it can hold."""

import jax
import pytest

from enso_jax.grading import _room, grade, make_room_for_programs, submission
from enso_jax.models import built_in


def mappings() -> int:
    return len(_room._OWN_MAPPINGS.read_bytes().splitlines())


@pytest.fixture
def allowed(tmp_path, monkeypatch):
    """Has the kernel seem to allow so many mappings."""

    def allow(most: int) -> None:
        (tmp_path / "max_map_count").write_text(f"{most}\n")
        monkeypatch.setattr(_room, "_MOST_MAPPINGS", tmp_path / "max_map_count")

    return allow


needs_mappings = pytest.mark.skipif(
    not _room._OWN_MAPPINGS.exists(), reason="this kernel does not list mappings"
)


@needs_mappings
def test_programs_go_when_they_fill_the_process_and_scores_stay(
    small_record, small_protocol, allowed
):
    model, protocol = built_in("fable-5.1").build(), small_protocol()
    about = submission(model, "fable-5.1")
    jax.clear_caches()
    empty = mappings()
    allowed(10**9)
    first = grade(model, about, small_record, protocol).result.scores
    full = mappings()
    assert full > empty + 200

    allowed(full)  # a quarter of which there already is
    assert make_room_for_programs()
    assert mappings() < empty + 200
    assert grade(model, about, small_record, protocol).result.scores == first


@needs_mappings
def test_programs_stay_while_there_is_room(allowed):
    allowed(8 * mappings())
    assert not make_room_for_programs()


def test_without_a_count_nothing_is_dropped(tmp_path, monkeypatch):
    monkeypatch.setattr(_room, "_MOST_MAPPINGS", tmp_path / "absent")
    assert not make_room_for_programs()
