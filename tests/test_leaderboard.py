"""Who is ahead, by how much, and what the weights decide; as the paper says of its own systems."""

import csv
import datetime
import io
import json
import math
import re
import shlex
from pathlib import Path

import graded
import hypothesis
import pytest
from graded import invalid, keep, scored
from hypothesis import strategies as st

from enso_jax.checkpoints import Settings, Store, StoreError, open_store
from enso_jax.leaderboard import (
    CSV_COLUMNS,
    DEFAULT_WEIGHTS,
    DIMENSIONS,
    PAPER,
    PaperRow,
    UnknownSystemError,
    WeightsError,
    crossing_weight,
    normalised,
    notes,
    paper_rows,
    parse_weights,
    standings,
    to_csv,
    to_json,
    to_markdown,
    weighted,
)
from enso_jax.leaderboard._standings import SETTING_WORDS

EQUAL = (1 / 3, 1 / 3, 1 / 3)
REFERENCE = "Reference model"


@pytest.fixture
def store(tmp_path) -> Store:
    return open_store(tmp_path / "store")


@pytest.fixture
def papers_store(store) -> Store:
    """The paper's systems with their final checkpoints alone, graded once."""
    for row in PAPER:
        keep(store, row.system, [scored(three(row), errors=None)], graded.changed(replicates=1))
    return store


def three(row: PaperRow) -> tuple[float, float, float]:
    return row.statistical, row.dynamical, row.predictive


def labels(board) -> list[str]:
    return [row.label for row in board.rows]


# --- The paper's rows -----------------------------------------------------------------------


def printed(system: str) -> PaperRow:
    (row,) = (row for row in PAPER if row.system == system)
    return row


def ahead_of_reference(weights) -> set[str]:
    score = weighted(three(printed(REFERENCE)), weights)
    return {row.system for row in PAPER if weighted(three(row), weights) > score}


def test_the_papers_composites_are_those_of_its_scores():
    assert len(PAPER) == 13
    for row in PAPER:
        assert row.final == pytest.approx(weighted(three(row), DEFAULT_WEIGHTS), abs=0.001)
        assert row.best >= row.final


def test_six_systems_exceed_the_reference_by_final_and_eight_by_best_checkpoints():
    reference = printed(REFERENCE)
    assert sum(row.final > reference.final for row in PAPER) == 6
    assert sum(row.best > reference.best for row in PAPER) == 8
    assert ahead_of_reference(DEFAULT_WEIGHTS) == {row.system for row in PAPER[:6]}


def test_with_equal_weights_the_same_six_do_and_with_more_on_statistics_five():
    assert ahead_of_reference(EQUAL) == ahead_of_reference(DEFAULT_WEIGHTS)
    assert len(ahead_of_reference((0.4, 0.3, 0.3))) == 5


@pytest.mark.parametrize(("system", "percent"), [("Claude Fable 5.1", 94), ("Kimi K3", 65)])
def test_a_system_stays_ahead_of_the_reference_until_statistics_carries_most(system, percent):
    one, reference = three(printed(system)), three(printed(REFERENCE))
    weight = crossing_weight(one, reference, "statistical")
    assert weight is not None
    # The paper computes from scores that it prints to three decimals.
    assert 100 * weight == pytest.approx(percent, abs=1)


def test_under_other_weights_the_papers_best_checkpoints_are_not_known():
    assert paper_rows() == paper_rows((0.3, 0.3, 0.4)) == PAPER
    for row, original in zip(paper_rows(EQUAL), PAPER, strict=True):
        assert row.best is None
        assert row.final == pytest.approx(sum(three(original)) / 3)


# --- Weights --------------------------------------------------------------------------------

scores = st.tuples(*[st.floats(0, 1)] * 3)


@hypothesis.given(scores, scores, st.sampled_from(DIMENSIONS))
def test_on_either_side_of_a_crossing_another_is_ahead(one, other, dimension):
    def lead(weight: float) -> float:
        weights = [(1 - weight) / 2] * 3
        weights[DIMENSIONS.index(dimension)] = weight
        return weighted(one, tuple(weights)) - weighted(other, tuple(weights))

    crossing = crossing_weight(one, other, dimension)
    assert crossing == crossing_weight(other, one, dimension)
    if crossing is None:
        assert lead(0) * lead(1) >= -1e-12
    else:
        assert 0 <= crossing <= 1
        assert lead(crossing) == pytest.approx(0, abs=1e-12)
        assert lead(0) * lead(1) <= 1e-12


def test_equal_models_and_better_ones_never_change_places():
    assert crossing_weight((0.5, 0.5, 0.5), (0.5, 0.5, 0.5), "dynamical") is None
    assert crossing_weight((0.5, 0.5, 0.5), (0.4, 0.4, 0.4), "dynamical") is None
    assert crossing_weight((0.6, 0.4, 0.4), (0.4, 0.5, 0.5), "statistical") == pytest.approx(1 / 3)


@pytest.mark.parametrize(
    "text", ["", "1", "1,2", "1,2,3,4", "a,b,c", "-1,1,1", "0,0,0", "nan,1,1", "inf,1,1", "1;1;1"]
)
def test_what_weighs_nothing_is_refused(text):
    with pytest.raises(WeightsError, match="write three numbers of at least 0"):
        parse_weights(text)


def test_weights_are_taken_in_proportion():
    assert normalised(parse_weights("3,3,4")) == DEFAULT_WEIGHTS
    assert normalised(parse_weights("1,1,1")) == pytest.approx(EQUAL)
    assert normalised(parse_weights(" 0, 0, 2")) == (0, 0, 1)
    assert normalised(DEFAULT_WEIGHTS) is DEFAULT_WEIGHTS


# --- Ranks ----------------------------------------------------------------------------------


def test_a_board_of_the_papers_systems_is_the_papers_figure(papers_store):
    board = standings(papers_store, reference=REFERENCE)
    assert labels(board) == [row.system for row in PAPER]
    assert board.weights == DEFAULT_WEIGHTS
    assert "6 of 12 score higher than Reference model." in list(notes(board))
    kimi = board.rows[1]
    assert kimi.crossing_below is not None
    assert kimi.crossing_below.other == "GPT-5.6-Sol"
    assert kimi.crossing_reference is not None
    assert kimi.crossing_reference.statistical == pytest.approx(0.649, abs=0.001)
    assert board.rows[6].crossing_reference is None
    assert board.rows[-1].crossing_below is None


def test_weights_change_ranks_and_composites(papers_store):
    board = standings(papers_store, (1.0, 0.0, 0.0))
    assert labels(board)[:2] == [REFERENCE, "Claude Fable 5.1"]
    assert [row.final.composite.mean for row in board.rows][:2] == pytest.approx([0.727, 0.715])


def test_the_final_checkpoint_ranks_or_the_best_one(store):
    keep(store, "Early", [scored((0.9, 0.9, 0.9)), scored((0.2, 0.2, 0.2))])
    keep(store, "Late", [scored((0.1, 0.1, 0.1)), scored((0.5, 0.5, 0.5))])
    by_final, by_best = standings(store), standings(store, by="best")
    assert labels(by_final) == ["Late", "Early"]
    assert labels(by_best) == ["Early", "Late"]
    early = by_final.rows[1]
    assert (early.best.checkpoint, early.best.eligible_s, early.checkpoints) == ("0001", 600.0, 2)
    assert early.best.composite.mean == pytest.approx(0.9)
    assert early.final.composite.mean == pytest.approx(0.2)


def test_of_equally_good_checkpoints_the_first_is_the_best_and_a_scored_one_before_an_invalid(
    store,
):
    keep(store, "A", [scored((0.5, 0.5, 0.5)), scored((0.5, 0.5, 0.5))])
    keep(store, "B", [invalid(), scored((0.0, 0.0, 0.0)), invalid()])
    a, b = standings(store).rows
    assert a.best.checkpoint == "0001"
    assert (b.best.checkpoint, b.best.outcome) == ("0002", "scored")


def test_an_invalid_final_checkpoint_scores_0_and_says_why(store):
    keep(store, "Unstable", [scored((0.9, 0.9, 0.9)), invalid("non_finite", "it blew up.")])
    keep(store, "Poor", [scored((0.1, 0.1, 0.1))])
    board = standings(store)
    assert labels(board) == ["Poor", "Unstable"]
    final = board.rows[1].final
    assert (final.composite.mean, final.outcome) == (0.0, "invalid")
    assert final.reason == "non_finite: it blew up."
    sentence = (
        "Unstable: its final checkpoint 0002 is invalid and scores 0. non_finite: it blew up."
    )
    assert sentence in list(notes(board))
    assert sentence in list(notes(standings(store, by="best")))


# --- Errors and ties ------------------------------------------------------------------------


def test_under_the_protocols_weights_the_error_is_the_results_own(store):
    result = scored((0.5, 0.5, 0.5), errors=(0.01, 0.02, 0.03))
    measured = result.standard_errors.model_copy(update={"composite": 0.5})
    keep(store, "A", [result.model_copy(update={"standard_errors": measured})])
    assert standings(store).rows[0].final.composite.standard_error == 0.5
    (row,) = standings(store, EQUAL).rows
    expected = math.hypot(0.01, 0.02, 0.03) / 3
    assert row.final.composite.standard_error == pytest.approx(expected)


@pytest.mark.parametrize(("difference", "tied"), [(0.027, True), (0.029, False)])
def test_two_are_tied_within_two_standard_errors_of_their_difference(store, difference, tied):
    """Each of S alone is uncertain by 0.01, so the difference by 0.01414."""
    keep(store, "A", [scored((0.5, 0.5, 0.5), errors=(0.01, 0.0, 0.0))])
    keep(store, "B", [scored((0.5 - difference, 0.5, 0.5), errors=(0.01, 0.0, 0.0))])
    first, second = standings(store, (1.0, 0.0, 0.0)).rows
    assert first.tied_with_above is None
    assert second.tied_with_above is tied


def test_a_tie_is_with_the_one_above_by_the_checkpoint_that_ranks(store):
    keep(store, "A", [scored((0.8, 0.8, 0.8)), scored((0.5, 0.5, 0.5))])
    keep(store, "B", [scored((0.6, 0.6, 0.6)), scored((0.499, 0.499, 0.499))])
    assert standings(store).rows[1].tied_with_above is True
    assert standings(store, by="best").rows[1].tied_with_above is False


def test_with_one_replicate_ties_cannot_be_judged(papers_store):
    board = standings(papers_store)
    assert {row.tied_with_above for row in board.rows} == {None}
    assert any("Ties cannot be judged" in note and "--replicates" in note for note in notes(board))


def test_invalid_systems_are_tied_with_each_other_whatever_the_replicates(store):
    for name in ("A", "B"):
        keep(store, name, [invalid()], graded.changed(replicates=1))
    assert standings(store).rows[1].tied_with_above is True


# --- Which runs are compared ----------------------------------------------------------------


def test_runs_under_other_settings_are_left_out_and_named(store):
    keep(store, "A", [scored((0.5, 0.5, 0.5))])
    keep(store, "B", [scored((0.4, 0.4, 0.4))])
    keep(store, "C", [scored((0.9, 0.9, 0.9))], graded.changed(seed=3, replicates=2))
    board = standings(store)
    assert labels(board) == ["A", "B"]
    (left,) = board.left_out
    assert (left.system, left.run) == ("C", "c")
    expected = "it was graded under another seed and number of replicates"
    assert left.why == expected
    assert f"Left out: C (c), because {expected}." in list(notes(board))


def test_every_setting_has_words_for_a_difference():
    assert SETTING_WORDS.keys() == Settings.model_fields.keys()


def test_of_settings_with_equally_many_runs_the_latest_count(store):
    later = graded.NOON + datetime.timedelta(seconds=1)
    keep(store, "A", [scored((0.5, 0.5, 0.5))], graded.changed(seed=1), graded_at=later)
    keep(store, "A", [scored((0.4, 0.4, 0.4))])
    board = standings(store)
    assert board.settings.seed == 1
    assert board.left_out == (), "the run is on the board"


def test_a_run_without_all_its_results_is_left_out(store):
    keep(store, "Whole", [scored((0.5, 0.5, 0.5))])
    partial = keep(store, "Partial", [scored((0.9, 0.9, 0.9)), scored((0.8, 0.8, 0.8))])
    (store.folder / "results" / f"{partial.checkpoints[0].key}.json").write_text("{")
    board = standings(store)
    assert labels(board) == ["Whole"]
    assert board.left_out[0].why == "1 of its 2 results are not there: grade it again"


def test_a_store_with_nothing_to_compare_says_what_to_do(store, tmp_path):
    with pytest.raises(StoreError, match="holds no graded run: grade one with enso-jax grade-run"):
        standings(store)
    run = keep(store, "A", [scored((0.5, 0.5, 0.5))])
    (store.folder / "results" / f"{run.checkpoints[0].key}.json").unlink()
    with pytest.raises(StoreError, match="no run with all its results"):
        standings(store)
    with pytest.raises(StoreError, match="is no store"):
        standings(Store(tmp_path))


def test_runs_of_one_system_are_told_apart_by_as_little_as_it_takes(store):
    result = [scored((0.5, 0.5, 0.5))]
    keep(store, "Alone", result, condition="web")
    keep(store, "Twice", result, name="t1", condition="web")
    keep(store, "Twice", result, name="t2", condition="offline")
    keep(store, "Thrice", result, name="r1", condition="web")
    keep(store, "Thrice", result, name="r2", condition="web")
    keep(store, "Thrice", result, name="r3")
    keep(store, "Namesakes", result, name="n", identity="0a")
    keep(store, "Namesakes", result, name="n", identity="0b")
    assert sorted(labels(standings(store))) == [
        "Alone",
        "Namesakes n 0a",
        "Namesakes n 0b",
        "Thrice",
        "Thrice (web) r1",
        "Thrice (web) r2",
        "Twice (offline)",
        "Twice (web)",
    ]


def test_a_reference_is_named_by_label_system_or_run(store):
    result = [scored((0.5, 0.5, 0.5))]
    keep(store, "Twice", result, name="t1", condition="web")
    keep(store, "Twice", result, name="t2", condition="offline")
    keep(store, "Once", result, name="o")
    for name, label in {"Once": "Once", "o": "Once", "Twice (web)": "Twice (web)"}.items():
        assert standings(store, reference=name).reference == label
    with pytest.raises(UnknownSystemError, match=r"more than one run: write one of Twice \(offl"):
        standings(store, reference="Twice")
    with pytest.raises(UnknownSystemError, match="did you mean Once"):
        standings(store, reference="once")
    with pytest.raises(UnknownSystemError, match="there are Once, Twice"):
        standings(store, reference="Q")


# --- How it is printed ----------------------------------------------------------------------


@pytest.fixture
def small_store(store) -> Store:
    """Two tied, one behind them, one invalid; a name that no format takes as it is."""
    keep(store, "Alpha", [scored((0.72, 0.64, 0.27)), scored((0.7, 0.6, 0.3))])
    keep(store, 'Be|ta, "[b]"', [scored((0.7, 0.6, 0.295))])
    keep(store, "Gamma", [scored((0.2, 0.5, 0.1))])
    keep(store, "Delta", [invalid()])
    return store


def test_json_is_strict_and_holds_all_fields(small_store):
    def refuse(constant: str) -> None:
        raise AssertionError(constant)

    board = standings(small_store, reference="Gamma")
    content = json.loads(to_json(board, PAPER), parse_constant=refuse)
    assert content["schema_version"] == 1
    assert [row["label"] for row in content["rows"]] == labels(board)
    assert content["rows"][1]["tied_with_above"] is True
    assert content["rows"][3]["final"]["outcome"] == "invalid"
    assert content["weights"] == list(DEFAULT_WEIGHTS)
    assert [row["system"] for row in content["paper"]] == [row.system for row in PAPER]
    assert json.loads(to_json(board))["paper"] == []


def test_csv_gives_back_every_score_unrounded(small_store):
    board = standings(small_store, reference="Gamma")
    lines = list(csv.DictReader(io.StringIO(to_csv(board, PAPER))))
    assert tuple(lines[0]) == CSV_COLUMNS
    assert [line["source"] for line in lines] == ["store"] * 4 + ["paper"] * 13
    for row, line in zip(board.rows, lines, strict=False):
        assert line["system"] == row.system
        assert float(line["final_composite"]) == row.final.composite.mean
        assert float(line["best_eligible_s"]) == row.best.eligible_s
    assert [line["tied_with_above"] for line in lines[:4]] == ["", "yes", "no", "no"]
    assert lines[3]["final_composite_se"] == ""
    assert lines[0]["below_system"] == 'Be|ta, "[b]"'
    assert lines[4]["best_composite"] == "0.531"


def test_markdown_has_cells_of_one_number_in_every_row(small_store):
    text = to_markdown(standings(small_store, reference="Gamma"), PAPER)
    tables = re.findall(r"(?:^\|.*\|\n)+", text, re.MULTILINE)
    assert len(tables) == 2
    for table in tables:
        bars = {len(re.findall(r"(?<!\\)\|", line)) for line in table.splitlines()}
        assert len(bars) == 1
    assert "| 2 = | Be\\|ta" in text
    assert text.count("(paper) |") == 13


def test_the_papers_rows_are_marked_and_stand_where_their_scores_put_them(small_store, run):
    status, stdout, stderr = run("leaderboard", small_store.folder, "--paper")
    assert (status, stderr) == (0, "")
    systems = re.findall(r"^(?:\d(?: =)?)? +(\S.*?) {2,}\d\.\d{3} ", stdout, re.MULTILINE)
    assert len(systems) == 17
    assert systems[0] == "Claude Fable 5.1 (paper)"  # 0.515
    assert systems[1] == "Alpha"  # 0.510
    assert systems[3] == "Kimi K3 (paper)"  # 0.479
    assert sum("(paper)" in system for system in systems) == 13
    assert "printed in the paper, one seed, on the measured record" in stdout


# --- The command ----------------------------------------------------------------------------


def test_the_table_shows_errors_ties_and_when_it_was_best(run, small_store):
    status, stdout, stderr = run("leaderboard", small_store.folder)
    assert (status, stderr) == (0, "")
    assert "4 runs on some record, 8 replicates, seed 0, by final checkpoint" in stdout
    assert re.search(r"^1 +Alpha +0.700 +0.600 +0.300 +0.510 ± 0.006 +", stdout, re.MULTILINE)
    assert re.search(r'^2 = +Be\|ta, "\[b\]" ', stdout, re.MULTILINE)
    assert "0001, 0:10" in stdout
    assert "0, invalid" in stdout
    assert "tied with the ranked one above it" in stdout


def test_lines_are_not_folded_on_a_pipe(run, store):
    keep(store, "a system with a name of " + "very " * 20 + "many letters", [scored((0.5,) * 3)])
    _, stdout, _ = run("leaderboard", store.folder)
    assert "very very many letters" in stdout


def test_best_ranks_by_best_checkpoint_and_warns(run, small_store):
    _, stdout, _ = run("leaderboard", small_store.folder, "--best")
    assert "by best checkpoint" in stdout
    assert re.search(r"^1 +Alpha +0.720 ", stdout, re.MULTILINE)
    assert "flatters" in stdout


def test_weights_that_do_not_sum_to_1_are_normalised_and_said_so(run, small_store):
    _, stdout, _ = run("leaderboard", small_store.folder, "--weights", "1,1,2")
    assert "The weights 1,1,2 do not sum to 1: 0.250, 0.250, 0.500 are used." in stdout
    _, stdout, _ = run("leaderboard", small_store.folder, "--weights", "0.25,0.25,0.5")
    assert "do not sum" not in stdout


def test_a_simulated_record_is_never_passed_over(run, store):
    simulated = graded.changed(observations_kind="simulated")
    keep(store, "A", [scored((0.5, 0.5, 0.5))], simulated)
    for options in ([], ["--format", "markdown"]):
        _, stdout, _ = run("leaderboard", store.folder, "--paper", *options)
        assert "against a simulated record" in stdout
        assert "not to be compared with scores on a simulated record" in stdout


@pytest.mark.parametrize("options", [["--json"], ["--format", "json"], ["--json", "--format=json"]])
def test_json_alone_goes_to_stdout(run, small_store, options):
    status, stdout, stderr = run("leaderboard", small_store.folder, *options)
    assert status == 0
    assert stdout == to_json(standings(small_store))
    assert "is invalid and scores 0" in stderr


def test_csv_alone_goes_to_stdout(run, small_store):
    _, stdout, _ = run("leaderboard", small_store.folder, "--format", "csv", "--paper")
    assert stdout == to_csv(standings(small_store), PAPER)


def test_markdown_goes_to_stdout_with_its_notes(run, small_store):
    _, stdout, stderr = run("leaderboard", small_store.folder, "--format", "markdown")
    assert stdout == to_markdown(standings(small_store))
    assert stderr == ""


def test_a_board_is_read_from_a_store_that_it_leaves_alone(run, small_store):
    before = sorted(small_store.folder.rglob("*"))
    run("leaderboard", small_store.folder)
    assert sorted(small_store.folder.rglob("*")) == before


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["/no/such/store"], "/no/such/store does not exist"),
        (["."], "is no store"),
        (["store", "--weights", "1,2"], "are no weights: write three numbers"),
        (["store", "--weights", "-1,1,1"], "are no weights: write three numbers"),
        (["store", "--reference", "Nobody"], "no system called 'Nobody'"),
        (["store", "--format", "pdf"], "--format"),
        (["store", "--json", "--format", "csv"], "exclude each other"),
        ([], "Missing argument"),
    ],
)
def test_bad_input_is_one_sentence_and_status_2(run, small_store, monkeypatch, arguments, words):
    monkeypatch.chdir(small_store.folder.parent)
    status, stdout, stderr = run("leaderboard", *arguments)
    assert status == 2
    assert stdout == ""
    assert words in stderr
    assert stderr.count("\n") == 1


def test_the_example_in_its_help_runs(run, small_store, monkeypatch):
    monkeypatch.chdir(small_store.folder.parent)
    _, stdout, _ = run("leaderboard", "--help")
    (example,) = re.findall(r"Example: enso-jax (.*?) *│?$", stdout, re.MULTILINE)
    arguments = shlex.split(example)
    assert Path(arguments[1]).is_dir()
    status, stdout, _ = run(*arguments)
    assert status == 0
    assert "Alpha" in stdout
