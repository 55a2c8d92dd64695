"""Are all checkpoints of runs graded, each once, whatever happens meanwhile?"""

import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import pytest

from enso_jax import checkpoints
from enso_jax.checkpoints import (
    GradedRuns,
    Store,
    ThisProcess,
    grade_runs,
    open_store,
    read_run,
    request_of,
)
from enso_jax.checkpoints._task import Grader, OtherEngineError, Task, tasks_of
from enso_jax.grading import GradeResult, Submission, Terms, grade_submission
from enso_jax.models import built_in
from enso_jax.protocol import Protocol
from enso_jax.submissions import available, write_starter

QUICK = Protocol(
    free_run_years=160, free_run_spin_up_years=10, smoother_members=40, forecast_members=10
)
needs_a_sandbox = pytest.mark.skipif(not available(), reason="there is no sandbox here")


def checkpoint(folder: Path, number: int, form: str = "jax") -> Path:
    """A checkpoint as the harness leaves it: the starter with numbers of its own."""
    place = folder / "checkpoints" / f"{number:04}"
    write_starter(place, form)
    path = place / "params.json"
    path.write_text(json.dumps(scaled(json.loads(path.read_text()), 1 + 0.002 * number)))
    about = {"index": number, "eligible_s": 300.0 * number, "phase": "C", "turn": number}
    (place / "checkpoint.json").write_text(json.dumps(about))
    return place


def scaled(value: object, factor: float) -> object:
    if isinstance(value, dict):
        return {name: scaled(inner, factor) for name, inner in value.items()}
    if isinstance(value, list):
        return [scaled(inner, factor) for inner in value]
    return value * factor if isinstance(value, float) else value


@pytest.fixture(scope="module")
def run_folder(tmp_path_factory) -> Path:
    """A run with good, equal, exploding, broken and unreadable checkpoints, of two forms."""
    folder = tmp_path_factory.mktemp("runs") / "some-run"
    for number in (1, 2, 3):
        checkpoint(folder, number)
    checkpoint(folder, 4, "numpy")
    shutil.copytree(folder / "checkpoints" / "0002", folder / "checkpoints" / "0005")
    about = {"index": 5, "eligible_s": 1500.0}
    (folder / "checkpoints" / "0005" / "checkpoint.json").write_text(json.dumps(about))
    exploding = checkpoint(folder, 6)
    with (exploding / "model.py").open("a") as model:
        model.write("\n_calm = step\n\n\ndef step(state, t, dt, key, params):\n")
        model.write("    return _calm(state, t, dt, key, params) + 3.0 * dt * state\n")
    (checkpoint(folder, 7) / "params.json").write_text("{")
    (checkpoint(folder, 8) / "model.py").unlink()
    (folder / "lock.json").write_text(json.dumps({"system": {"agent": "a", "model": "Some model"}}))
    return folder


@pytest.fixture(scope="module")
def request_(small_record):
    return request_of(Terms.of(small_record, QUICK, 0, 1), "the engine of this test")


@pytest.fixture(scope="module")
def graded(run_folder, request_, tmp_path_factory) -> tuple[GradedRuns, Store]:
    store = open_store(tmp_path_factory.mktemp("store"))
    return grade_runs([read_run(run_folder)], store, request_, ThisProcess()), store


def results_of(graded: GradedRuns, store: Store) -> dict[str, GradeResult]:
    return {one.name: store.result(one.key) for one in graded.runs[0].checkpoints}


@needs_a_sandbox
def test_each_checkpoint_has_its_own_outcome(graded):
    results = results_of(*graded)
    assert [result.outcome for result in results.values()] == ["scored"] * 5 + ["invalid"] * 3
    reasons = [results[name].reason.category for name in ("0006", "0007", "0008")]
    assert reasons == ["non_finite", "bad_params", "missing_file"]
    assert graded[0].failed == {}


@needs_a_sandbox
@pytest.mark.parametrize("name", ["0001", "0003", "0004", "0006"])
def test_a_result_is_that_of_the_single_grade(graded, run_folder, small_record, name):
    alone = grade_submission(run_folder / "checkpoints" / name, small_record, QUICK).result
    together = results_of(*graded)[name]
    assert together.reason == alone.reason
    assert together.submission == alone.submission
    for dimension, score in alone.scores.model_dump().items():
        assert getattr(together.scores, dimension) == pytest.approx(score, abs=1e-9)


@needs_a_sandbox
def test_equal_submissions_are_graded_once_though_saved_at_two_times(graded):
    run = graded[0].runs[0]
    keys = {one.name: one.key for one in run.checkpoints}
    assert keys["0002"] == keys["0005"]
    assert len(set(keys.values())) == 7
    assert graded[0].new == 7
    assert [one.eligible_s for one in run.checkpoints][:5] == [300, 600, 900, 1200, 1500]


@needs_a_sandbox
def test_a_second_time_nothing_is_computed(graded, run_folder, request_, monkeypatch):
    def never(*arguments: object, **options: object) -> object:
        raise AssertionError("something was computed again")

    monkeypatch.setattr(checkpoints._outcomes, "examine_submission", never)
    monkeypatch.setattr(ThisProcess, "outcomes", lambda self, grade, tasks: iter(tasks and never()))
    again = grade_runs([read_run(run_folder)], graded[1], request_, ThisProcess())
    assert (again.new, again.kept) == (0, 7)
    assert again.runs[0].checkpoints == graded[0].runs[0].checkpoints


@needs_a_sandbox
def test_other_settings_are_other_results(graded, request_, small_record):
    one = graded[0].runs[0].checkpoints[0].key
    for terms in (Terms.of(small_record, QUICK, 1, 1), Terms.of(small_record, QUICK, 0, 2)):
        other = request_of(terms, "the engine of this test")
        assert other.settings.digest() != request_.settings.digest()
    other = request_of(Terms.of(small_record, QUICK, 0, 1), "another engine")
    digest = graded[1].result(one).submission.digest
    assert checkpoints.result_key(digest, request_.settings) == one
    assert checkpoints.result_key(digest, other.settings) != one


@needs_a_sandbox
def test_an_interruption_keeps_what_was_graded(run_folder, request_, tmp_path):
    """As Ctrl-C does, between two results."""
    store, seen = open_store(tmp_path / "store"), []

    def interrupted() -> None:
        seen.append(1)
        if len(seen) == 4:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        grade_runs([read_run(run_folder)], store, request_, ThisProcess(), done=interrupted)

    rest = grade_runs([read_run(run_folder)], store, request_, ThisProcess())
    assert (rest.new, rest.kept) == (3, 4)
    assert None not in results_of(rest, store).values()


@needs_a_sandbox
def test_what_a_busy_machine_may_be_to_blame_for_is_graded_again_if_asked(
    graded, run_folder, request_, tmp_path
):
    folder = tmp_path / "store"
    shutil.copytree(graded[1].folder, folder)
    store, key = open_store(folder), graded[0].runs[0].checkpoints[0].key
    good = store.result(key)
    reason = {"category": "timeout", "message": "its import took too long."}
    late = good.model_dump() | {"outcome": "invalid", "reason": reason, "detail": None}
    store.keep(key, GradeResult.model_validate(late))

    kept = grade_runs([read_run(run_folder)], store, request_, ThisProcess())
    assert (kept.new, store.result(key).outcome) == (0, "invalid")
    asked = request_of(request_.terms, "the engine of this test", again=True)
    again = grade_runs([read_run(run_folder)], store, asked, ThisProcess())
    assert (again.new, store.result(key).outcome) == (1, "scored")
    assert store.result(key).scores.composite == pytest.approx(good.scores.composite, abs=1e-9)


class Failing(ThisProcess):
    """A grader with an error of its own in one model; nothing that a submission could do."""

    def __init__(self, broken: str) -> None:
        self.broken = broken

    def outcomes(self, grade, tasks):
        def failing(task: Task) -> list[GradeResult]:
            if self.broken in {about.name for about in task.abouts}:
                raise ZeroDivisionError("in the grader")
            return grade(task)

        return super().outcomes(failing, tasks)


@needs_a_sandbox
def test_an_error_of_the_grader_costs_no_other_checkpoint_its_result(
    run_folder, request_, tmp_path
):
    store = open_store(tmp_path / "store")
    graded = grade_runs([read_run(run_folder)], store, request_, Failing("0003"))
    results = results_of(graded, store)
    assert [name for name, result in results.items() if result is None] == ["0003"]
    assert list(graded.failed.values()) == ["ZeroDivisionError: in the grader"]
    mended = grade_runs([read_run(run_folder)], store, request_, ThisProcess())
    assert (mended.new, mended.failed) == (1, {})


@needs_a_sandbox
def test_names_and_files_that_are_odd_cost_no_other_checkpoint_its_result(
    request_, tmp_path, monkeypatch
):
    """A name that is no text is shown as well as it can be; a disk that fails is no fault."""
    plain = tmp_path / "plain"
    for number, name in enumerate(("good", "odd\udcff", "unread"), start=1):
        shutil.copytree(checkpoint(tmp_path / "made", number), plain / name)
    (plain / "odd\udcff" / "params.json").write_text("{")
    reading = checkpoints._grading.read_folder

    def failing(folder: Path) -> object:
        if folder.name == "unread":
            raise PermissionError(13, "Permission denied", str(folder / "model.py"))
        return reading(folder)

    monkeypatch.setattr(checkpoints._grading, "read_folder", failing)
    store = open_store(tmp_path / "store")
    found = grade_runs([read_run(plain)], store, request_, ThisProcess())
    good, odd, unread = results_of(found, store).values()
    assert good.outcome == "scored"
    assert (odd.reason.category, odd.submission.name) == ("bad_params", "odd?")
    assert unread is None
    (reason,) = found.failed.values()
    assert "PermissionError" in reason
    assert "unread" in reason


@needs_a_sandbox
def test_an_interruption_does_not_wait_for_what_runs_in_sandboxes(request_, tmp_path):
    """As Ctrl-C does, while other submissions are still being imported, for minutes."""
    folder = tmp_path / "run"
    (checkpoint(folder, 1) / "params.json").write_text("{")
    for number in (2, 3):
        with (checkpoint(folder, number) / "model.py").open("a") as model:
            model.write("\nimport time\ntime.sleep(3600)\n")
    store = open_store(tmp_path / "store")

    def interrupted() -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        grade_runs([read_run(folder)], store, request_, ThisProcess(), done=interrupted)
    # The first alone has a result: what was ended has none, and is no invalid submission.
    (kept,) = (store.folder / "results").glob("*.json")
    assert store.result(kept.stem).reason.category == "bad_params"


@needs_a_sandbox
def test_a_folder_of_submissions_is_a_run_too(run_folder, request_, graded, tmp_path):
    plain = tmp_path / "plain"
    for name in ("0002", "0010"):
        shutil.copytree(run_folder / "checkpoints" / "0001", plain / name)
    again = grade_runs([read_run(plain)], graded[1], request_, ThisProcess())
    assert (again.new, again.kept) == (0, 1)
    assert [one.name for one in again.runs[0].checkpoints] == ["0002", "0010"]


def test_tasks_are_of_one_structure_and_share_a_size():
    models = [built_in(name).build() for name in ("fable-5.1", "multiscale-5")]
    about = Submission(name="one", form=None, engine=None, digest=None)
    given = [(str(number), models[number % 2], about) for number in range(21)]
    tasks = tasks_of(given)
    assert sorted(key for task in tasks for key in task.keys) == sorted(key for key, *_ in given)
    assert [len(task.keys) for task in tasks] == [8, 3, 8, 2]
    assert {task.at_once for task in tasks} == {8}
    assert [len(single.keys) for single in tasks[1].one_by_one()] == [1, 1, 1]


def test_a_worker_with_another_engine_gives_no_numbers(small_record):
    grade = Grader(small_record, QUICK, seed=0, replicates=1, engine="0.0.1+0123456789ab")
    with pytest.raises(OtherEngineError, match=r"not 0.0.1\+0123456789ab: install the same one"):
        grade(Task(("a",), (), (), 1))


# --- Schedulers ---------------------------------------------------------------------------


def empty_tasks(*keys: str) -> list[Task]:
    return [Task((key,), (), (), 1) for key in keys]


def answer(task: Task) -> Sequence[str]:
    if task.keys == ("wrong",):
        raise ValueError("of the grader")
    return [f"result of {key}" for key in task.keys]


def test_this_process_goes_on_after_an_error():
    tasks = empty_tasks("a", "wrong", "b")
    outcomes = {task.keys[0]: outcome for task, outcome in ThisProcess().outcomes(answer, tasks)}
    assert outcomes["a"] == ["result of a"]
    assert outcomes["b"] == ["result of b"]
    assert isinstance(outcomes["wrong"], ValueError)


@pytest.mark.parametrize(
    "address",
    ["local:0", "local:many", "slurm:-1", "tcp:", "tcp://here", "tcp://:::", "mpi", ""],
)
def test_an_address_that_is_none_is_refused(address):
    with (
        pytest.raises(checkpoints.SchedulerError, match="local:N"),
        checkpoints.scheduler(address),
    ):
        pass


@pytest.mark.parametrize(
    ("address", "words"),
    [("tls://127.0.0.1:1", "needs certificates"), ("slurm:2", "There is no sbatch here")],
)
def test_what_a_scheduler_lacks_is_a_sentence(monkeypatch, address, words):
    monkeypatch.setenv("PATH", "")
    with pytest.raises(checkpoints.SchedulerError, match=words), checkpoints.scheduler(address):
        pass


def test_without_dask_a_sentence_says_what_to_install(monkeypatch):
    monkeypatch.setattr(checkpoints._schedulers, "_installed", lambda module: False)
    with (
        pytest.raises(checkpoints.SchedulerError, match=r"pip install 'enso-jax\[cluster\]'"),
        checkpoints.scheduler("local:2"),
    ):
        pass
    with checkpoints.scheduler(None) as who:
        assert isinstance(who, ThisProcess)


_DEATHS = """
import os, signal, sys
from pathlib import Path
from enso_jax.checkpoints import scheduler
from enso_jax.checkpoints._task import Task

PLACE = Path(sys.argv[1])

def answer(task):
    key = task.keys[0]
    if key == "deadly" or (key == "unlucky" and not (PLACE / "seen").exists()):
        (PLACE / "seen").touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return [f"result of {key}"]

if __name__ == "__main__":
    tasks = [Task((key,), (), (), 1) for key in ("a", "unlucky", "b", "deadly", "c")]
    with scheduler("local:2") as who:
        for task, outcome in who.outcomes(answer, tasks):
            print(task.keys[0], outcome if isinstance(outcome, list) else type(outcome).__name__)
"""


@pytest.mark.slow
def test_a_worker_that_dies_costs_no_result(tmp_path):
    script = tmp_path / "deaths.py"
    script.write_text(_DEATHS)
    process = subprocess.run(
        [sys.executable, str(script), str(tmp_path)], capture_output=True, text=True, timeout=300
    )
    assert process.returncode == 0, process.stderr
    assert sorted(process.stdout.splitlines()) == sorted(
        [f"{key} ['result of {key}']" for key in ("a", "unlucky", "b", "c")]
        + ["deadly KilledWorker"]
    )
    assert "Traceback" not in process.stderr


# --- The command --------------------------------------------------------------------------


@pytest.fixture(scope="module")
def two_systems(tmp_path_factory) -> list[Path]:
    root = tmp_path_factory.mktemp("systems")
    folders = [root / form for form in ("jax", "numpy")]
    for folder in folders:
        for number in (1, 2):
            checkpoint(folder, number, folder.name)
        (folder / "lock.json").write_text(json.dumps({"system": {"model": folder.name}}))
    (checkpoint(folders[0], 3) / "params.json").write_text("[")
    return folders


def start(
    folders: Sequence[Path], store: Path, scheduler: str = "here", **variables: str
) -> subprocess.Popen:
    environment = {name: value for name, value in os.environ.items() if name != "ENSO_OBSERVATIONS"}
    command = [sys.executable, "-m", "enso_jax", "grade-run", *map(str, folders)]
    return subprocess.Popen(
        [*command, "--store", str(store), "--scheduler", scheduler],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment | variables,
        start_new_session=True,
    )


def finished(process: subprocess.Popen) -> str:
    stdout, stderr = process.communicate(timeout=300)
    assert process.returncode == 0, stderr
    assert "Traceback" not in stderr
    return stdout


def stored(store: Path) -> dict[str, GradeResult]:
    """All that lies in a store, by key; every file must be a result."""
    found = {
        path.stem: Store(store).result(path.stem) for path in (store / "results").glob("*.json")
    }
    assert None not in found.values()
    return found


def assert_same(one: dict[str, GradeResult], other: dict[str, GradeResult]) -> None:
    assert one.keys() == other.keys()
    for key, result in one.items():
        assert other[key].outcome == result.outcome
        assert other[key].scores.composite == pytest.approx(result.scores.composite, abs=1e-9)


@pytest.fixture(scope="module")
def undisturbed(two_systems, tmp_path_factory) -> tuple[Path, str]:
    store = tmp_path_factory.mktemp("undisturbed") / "store"
    return store, finished(start(two_systems, store))


@needs_a_sandbox
@pytest.mark.slow
def test_the_command_shows_best_and_final_and_where_the_results_are(undisturbed):
    _, stdout = undisturbed
    for words in ("0003", "best", "final", "invalid", "5 submissions graded now", "leaderboard"):
        assert words in stdout
    assert "against a simulated record" in stdout


@needs_a_sandbox
@pytest.mark.slow
def test_its_store_is_a_leaderboard(undisturbed, run):
    status, stdout, _ = run("leaderboard", undisturbed[0], "--json")
    assert status == 0
    assert {row["system"] for row in json.loads(stdout)["rows"]} == {"jax", "numpy"}


@needs_a_sandbox
@pytest.mark.slow
def test_killed_at_ten_random_moments_it_loses_and_doubles_nothing(
    undisturbed, two_systems, tmp_path
):
    store, rng = tmp_path / "store", random.Random(4)
    for _ in range(10):
        process = start(two_systems, store)
        time.sleep(rng.uniform(1.0, 9.0))
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        stored(store)
    finished(start(two_systems, store))
    assert_same(stored(undisturbed[0]), stored(store))


@needs_a_sandbox
@pytest.mark.slow
def test_two_at_once_on_one_store_do_not_disturb_each_other(undisturbed, two_systems, tmp_path):
    store = tmp_path / "store"
    both = [start(two_systems, store), start(reversed(two_systems), store)]
    for process in both:
        finished(process)
    assert_same(stored(undisturbed[0]), stored(store))


@needs_a_sandbox
@pytest.mark.slow
def test_ctrl_c_is_one_sentence_and_the_same_command_goes_on(undisturbed, two_systems, tmp_path):
    store = tmp_path / "store"
    process = start(two_systems, store)
    while process.poll() is None and not list((store / "results").glob("*.json")):
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    _, stderr = process.communicate(timeout=120)
    assert process.returncode == 130
    assert stderr.count("\n") == 1
    assert "the same command goes on" in stderr
    assert "graded now" in finished(start(two_systems, store))
    assert_same(stored(undisturbed[0]), stored(store))


@needs_a_sandbox
@pytest.mark.slow
def test_local_processes_give_the_same_results(undisturbed, two_systems, tmp_path):
    store = tmp_path / "store"
    finished(start(two_systems, store, "local:2"))
    assert_same(stored(undisturbed[0]), stored(store))


@needs_a_sandbox
@pytest.mark.slow
@pytest.mark.parametrize("scheduler", ["here", "local:2"])
def test_ctrl_c_on_a_terminal_leaves_one_sentence_and_no_process(two_systems, tmp_path, scheduler):
    """A terminal sends it to every process of the command."""
    store, rng = tmp_path / "store", random.Random(5)
    for _ in range(2):
        process = start(two_systems, store, scheduler)
        while process.poll() is None and not (store / "results").exists():
            time.sleep(0.05)
        time.sleep(rng.uniform(0.5, 6.0))
        os.killpg(process.pid, signal.SIGINT)
        _, stderr = process.communicate(timeout=120)
        if process.returncode != 0:  # it may have been done already
            assert process.returncode == 130
            assert stderr.count("\n") == 1, stderr
            assert "the same command goes on" in stderr
        while processes_of(process.pid):  # one that was ended may be on its way out
            time.sleep(0.05)


def processes_of(session: int) -> list[str]:
    """The processes of a session; those that have ended do not count."""
    listed = subprocess.run(
        ["ps", "-o", "stat=,args=", "-s", str(session)], capture_output=True, text=True
    )
    return [line for line in listed.stdout.splitlines() if line[0] != "Z"]


_SBATCH = """#!/bin/bash
setsid bash "${@: -1}" > /dev/null 2>&1 < /dev/null &
echo $! >> "$STAND_IN/begun"
echo "Submitted batch job $!"
"""
_SCANCEL = """#!/bin/bash
for job in "$@"; do kill -- "-$job"; echo "$job" >> "$STAND_IN/ended"; done
"""


@needs_a_sandbox
@pytest.mark.slow
def test_slurm_jobs_give_the_same_results_and_end(undisturbed, two_systems, tmp_path):
    """With stand-ins for sbatch and scancel, whose jobs are processes here."""
    for name, text in {"sbatch": _SBATCH, "scancel": _SCANCEL}.items():
        (tmp_path / name).write_text(text)
        (tmp_path / name).chmod(0o755)
    page = (Path(__file__).parent.parent / "docs" / "runs.md").read_text(encoding="utf-8")
    (described,) = re.findall(r"```yaml\n(.*?)```", page, re.DOTALL)
    (tmp_path / "jobqueue.yaml").write_text(described)
    store = tmp_path / "store"
    variables = {
        "PATH": f"{tmp_path}:{os.environ['PATH']}",
        "DASK_CONFIG": str(tmp_path),
        "STAND_IN": str(tmp_path),
        # The stand-ins' jobs start where they like; there they find the package that is tested.
        "PYTHONPATH": str(Path(__file__).parent.parent),
    }
    finished(start(two_systems, store, "slurm:2", **variables))
    assert_same(stored(undisturbed[0]), stored(store))
    begun, ended = (sorted((tmp_path / name).read_text().split()) for name in ("begun", "ended"))
    assert len(begun) == 2
    assert begun == ended


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["/no/such/run"], "does not exist"),
        (["."], "holds no checkpoints"),
        (["RUN", "--scheduler", "mpi"], "There is no scheduler 'mpi'"),
        (["RUN", "--scheduler", "tcp://127.0.0.1:1"], "No Dask scheduler answers"),
        (["RUN", "--store", "/dev/null/store"], "cannot be used as a store"),
        (["RUN", "--device", "gpu"], "JAX finds no gpu here"),
        ([], "Missing argument"),
    ],
)
def test_a_slip_is_one_sentence(run, run_folder, tmp_path, monkeypatch, arguments, words):
    monkeypatch.chdir(tmp_path)
    given = [str(run_folder) if argument == "RUN" else argument for argument in arguments]
    status, stdout, stderr = run("grade-run", *given)
    assert status == 2
    assert words in stderr
    assert "Traceback" not in stderr + stdout


def test_a_submission_is_no_run(run, run_folder):
    status, _, stderr = run("grade-run", run_folder / "checkpoints" / "0001")
    assert status == 2
    assert "use enso-jax grade" in stderr
