"""Does a sandbox hold, whatever the program in it does, and is nothing of it left?

The programs here do what a submission must not be able to do. Each test is run in every
sandbox that works on this machine.
"""

import contextlib
import json
import os
import platform
import re
import resource
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time
import uuid
from pathlib import Path

import pytest

import enso_jax
from enso_jax.submissions import _isolation, _system_calls
from enso_jax.submissions._isolation import (
    ISOLATIONS,
    Child,
    ChildDied,
    ChildTimeout,
    IsolationUnavailable,
    Limits,
    available,
    choose,
    start,
)

pytestmark = pytest.mark.skipif(
    platform.system() != "Linux", reason="submissions are run on Linux only"
)

PACKAGE = Path(enso_jax.__file__).parent
CHECKOUT = PACKAGE.parent
REFUSALS = {"FileNotFoundError", "PermissionError", "OSError", "ProcessLookupError"}

#: What every program can use: to say something, and to see what becomes of an attempt.
PRELUDE = """
import json, os, signal, struct, sys, time

def say(what):
    content = json.dumps(what).encode()
    os.write(1, struct.pack("<I", len(content)) + content)

def attempt(deed):
    try:
        deed()
    except BaseException as error:
        return type(error).__name__
    return "done"
"""


@pytest.fixture(params=ISOLATIONS)
def isolation(request) -> str:
    if request.param not in available():
        pytest.skip(str(_isolation._obstacle(request.param)))
    return request.param


@pytest.fixture
def marker(tmp_path, monkeypatch):
    """An argument for programs, by which all that comes from them is found after the test."""
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setenv("TMPDIR", str(temporary))
    monkeypatch.setattr(tempfile, "tempdir", None)
    text = f"marker-{uuid.uuid4().hex}"
    yield text
    assert not bearing(text), "processes are left"
    assert not list(temporary.iterdir()), "folders are left"


@pytest.fixture
def run(isolation, marker, tmp_path):
    """Starts Python on a source in the sandbox, in a scratch folder of its own by default."""

    def start_source(source: str, *arguments: object, **limits: float) -> Child:
        scratch = tmp_path / "scratch"
        scratch.mkdir(exist_ok=True)
        program = (sys.executable, "-c", PRELUDE + source, marker, *map(str, arguments))
        all_limits = Limits(**({"wall_s": 20.0, "cpu_s": 20.0} | limits))
        return start(program, scratch, (), all_limits, isolation)

    return start_source


def heard(child: Child, seconds: float = 15.0):
    """What the program says next."""
    deadline = time.monotonic() + seconds
    (size,) = struct.unpack("<I", child.receive(4, deadline))
    return json.loads(child.receive(size, deadline))


def end_of(child: Child) -> ChildDied:
    """How it ends, saying nothing more."""
    with pytest.raises(ChildDied) as caught:
        child.receive(1, time.monotonic() + 15.0)
    return caught.value


def bearing(text: str) -> list[int]:
    """Processes with `text` in their command line or environment, zombies aside."""
    found = []
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            for name in ("cmdline", "environ"):
                with contextlib.suppress(OSError):
                    if text.encode() in (folder / name).read_bytes():
                        found.append(int(folder.name))
    return found


def gone(text: str, seconds: float = 5.0) -> bool:
    until = time.monotonic() + seconds
    while bearing(text) and time.monotonic() < until:
        time.sleep(0.02)
    return not bearing(text)


# --- Messages ---------------------------------------------------------------------------


def test_messages_go_both_ways_whole(run):
    echo = "while content := sys.stdin.buffer.read(1 << 20): os.write(1, content[:1 << 16])"
    with run(echo) as child:
        for _ in range(3):
            child.send(b"x" * (1 << 20))
            assert child.receive(1 << 16) == b"x" * (1 << 16)
        assert child.alive
    assert not child.alive


def test_a_child_that_does_not_read_is_not_waited_for(run):
    with run("time.sleep(60)") as child:
        began = time.monotonic()
        with pytest.raises(ChildTimeout):
            child.send(bytes(1 << 24), deadline=began + 0.3)
        assert time.monotonic() - began < 5.0
        assert not child.alive


def test_a_message_that_does_not_come_ends_the_child(run):
    with run("os.write(1, b'ab'); time.sleep(60)") as child:
        with pytest.raises(ChildTimeout):
            child.receive(3, time.monotonic() + 0.5)
        assert not child.alive
        with pytest.raises(ChildDied):
            child.receive(1)


def test_exit_in_the_middle_is_told_from_an_answer(run):
    with run("os._exit(0)") as child:
        end = end_of(child)
        assert (end.returncode, end.signal, end.limit) == (0, None, None)
        with pytest.raises(ChildDied):
            child.send(b"anybody there?")


def test_the_signal_that_ended_it_is_told(run):
    with run("os.kill(os.getpid(), signal.SIGSEGV)") as child:
        assert end_of(child).signal == signal.SIGSEGV


def test_an_error_can_be_read_in_the_tail_of_standard_error(run):
    with run("raise ValueError('of all things')") as child:
        end = end_of(child)
    assert end.returncode == 1
    assert "ValueError: of all things" in end.stderr_tail
    assert child.stderr_tail == end.stderr_tail


def test_killing_twice_is_killing_once(run):
    with run("time.sleep(60)") as child:
        child.kill()
        child.kill()
        assert not child.alive


# --- What it sees -----------------------------------------------------------------------


def test_nothing_outside_can_be_read(run, tmp_path):
    secret = tmp_path / "secret"
    secret.write_text("held out")
    with tempfile.NamedTemporaryFile(dir=Path.home()) as at_home:
        paths = [secret, at_home.name, CHECKOUT / "pyproject.toml", "/etc/shadow", "/etc/passwd"]
        folders = [tmp_path, Path.home(), CHECKOUT, "/etc", "/root"]
        source = """
say({path: attempt(lambda: open(path).read(1)) for path in sys.argv[2:]})
os.symlink(sys.argv[2], "link"); say(attempt(lambda: open("link").read(1)))
say(attempt(lambda: os.link(sys.argv[2], "copy")))
names = []
for folder in json.loads(sys.stdin.readline()):
    try: names += os.listdir(folder)
    except OSError: pass
say(names)
"""
        with run(source, *paths) as child:
            child.send(json.dumps([str(folder) for folder in folders]).encode() + b"\n")
            assert set(heard(child).values()) <= REFUSALS
            assert heard(child) in REFUSALS
            assert heard(child) in REFUSALS
            names = set(heard(child))
    assert not names & {"secret", Path(at_home.name).name, "pyproject.toml", "tests", "shadow"}


def test_what_is_listed_can_be_read_but_not_written(isolation, marker, tmp_path):
    shown = tmp_path / "shown"
    shown.write_text("the fifth word")
    source = """
say(open(sys.argv[2]).read())
say(attempt(lambda: open(sys.argv[2], "w")))
"""
    program = (sys.executable, "-c", PRELUDE + source, marker, str(shown))
    with start(program, None, (shown,), Limits(10.0, 10.0), isolation) as child:
        assert heard(child) == "the fifth word"
        assert heard(child) in REFUSALS
    assert shown.read_text() == "the fifth word"


def test_only_the_scratch_folder_can_be_written(run, tmp_path):
    outside = [
        tmp_path,
        Path.home(),
        CHECKOUT,
        PACKAGE,
        Path(sys.prefix),
        Path(sys.base_prefix) / "lib",
        Path("/tmp"),
        Path("/dev/shm"),
        Path("/usr"),
        Path("/"),
    ]
    source = """
say({folder: attempt(lambda: open(f"{folder}/{sys.argv[1]}", "w")) for folder in sys.argv[2:]})
os.mkdir("deeper")
open("deeper/file", "w").write("mine")
os.rename("deeper/file", "deeper/moved")
say([os.getcwd(), os.environ["HOME"], os.environ["TMPDIR"]])
"""
    with run(source, *outside) as child:
        assert set(heard(child).values()) <= REFUSALS
        assert set(heard(child)) == {str(tmp_path / "scratch")}
    assert (tmp_path / "scratch/deeper/moved").read_text() == "mine"


def test_what_is_outside_cannot_be_changed_in_any_way(run, tmp_path):
    victim = tmp_path / "victim"
    victim.write_text("whole")
    readable = PACKAGE / "state.py"
    before = [path.stat() for path in (victim, readable)]
    source = """
def truncate(path): os.close(os.open(path, os.O_RDONLY | os.O_TRUNC))
for path in sys.argv[2:]:
    say([attempt(lambda: deed(path)) for deed in (
        lambda path: os.chmod(path, 0o777), os.remove, truncate,
        lambda path: os.truncate(path, 0), lambda path: os.utime(path, (0, 0)),
        lambda path: os.rename(path, "mine"), lambda path: os.setxattr(path, "user.x", b"x"),
        lambda path: os.chown(path, os.getuid(), os.getgid()), lambda path: open(path, "a"),
    )])
"""
    with run(source, victim, readable) as child:
        for _ in range(2):
            assert set(heard(child)) <= REFUSALS
    after = [path.stat() for path in (victim, readable)]
    assert [(s.st_mode, s.st_mtime_ns, s.st_size, s.st_ino) for s in after] == [
        (s.st_mode, s.st_mtime_ns, s.st_size, s.st_ino) for s in before
    ]


def test_the_environment_is_cut_down(run, monkeypatch):
    monkeypatch.setenv("ENSO_OBSERVATIONS", "/somewhere")
    monkeypatch.setenv("API_TOKEN", "secret")
    with run("say(dict(os.environ))") as child:
        environment = heard(child)
    assert not [name for name in environment if name.startswith("ENSO") or "TOKEN" in name]
    assert "/somewhere" not in json.dumps(environment)


def test_no_open_file_but_its_three_is_handed_on(run, tmp_path):
    secret = tmp_path / "secret"
    secret.write_text("held out")
    descriptor = os.open(secret, os.O_RDONLY)
    os.set_inheritable(descriptor, True)
    source = "say([n for n in range(3, 256) if attempt(lambda: os.fstat(n)) == 'done'])"
    with run(source) as child:
        assert heard(child) == []
    os.close(descriptor)


# --- Network ----------------------------------------------------------------------------


def test_nobody_can_be_reached(run, tmp_path):
    with contextlib.ExitStack() as stack:
        tcp = stack.enter_context(socket.create_server(("127.0.0.1", 0)))
        udp = stack.enter_context(socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
        udp.bind(("127.0.0.1", 0))
        local = stack.enter_context(socket.socket(socket.AF_UNIX))
        local.bind(str(tmp_path / "socket"))
        local.listen()
        abstract = stack.enter_context(socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM))
        abstract.bind(f"\0{uuid.uuid4().hex}")
        source = """
import socket
tcp, udp, path, abstract = sys.argv[2:]
def datagram(pair):
    pair[0].sendto(b"x", "\\0" + abstract)
say([attempt(deed) for deed in (
    lambda: socket.create_connection(("127.0.0.1", int(tcp))),
    lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b"x", ("127.0.0.1", int(udp))),
    lambda: socket.socket(socket.AF_INET6),
    lambda: socket.socket(socket.AF_NETLINK, socket.SOCK_RAW),
    lambda: socket.socket(socket.AF_UNIX).connect(path),
    lambda: datagram(socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)),
    lambda: datagram(socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)),
)])
pair = socket.socketpair()
pair[0].send(b"x")
say(pair[1].recv(1).decode())
"""
        name = abstract.getsockname()[1:].decode()
        ports = tcp.getsockname()[1], udp.getsockname()[1]
        with run(source, *ports, tmp_path / "socket", name) as child:
            assert set(heard(child)) <= REFUSALS
            assert heard(child) == "x"
        for server in (tcp, udp, local, abstract):
            server.setblocking(False)
        for accepting in (tcp, local):
            with pytest.raises(BlockingIOError):
                accepting.accept()
        for receiving in (udp, abstract):
            with pytest.raises(BlockingIOError):
                receiving.recv(1)


def test_bubblewrap_gives_a_network_with_nobody_on_it(run, isolation):
    if isolation != "bubblewrap":
        pytest.skip("Landlock has no network of its own; it is given no sockets")
    with run("say(open('/proc/net/dev').read())") as child:
        assert set(re.findall(r"(\S+):", heard(child))) <= {"lo"}


# --- Other processes --------------------------------------------------------------------


def test_processes_outside_can_be_neither_seen_nor_touched(run):
    victim = subprocess.Popen(["sleep", "60"])
    unlimited = resource.prlimit(victim.pid, resource.RLIMIT_CPU)
    source = """
import ctypes, resource
victim, *parents = map(int, sys.argv[2:])
say([attempt(lambda: deed(victim)) for deed in (
    lambda pid: os.kill(pid, signal.SIGKILL), lambda pid: os.killpg(pid, signal.SIGKILL),
    lambda pid: os.sched_setaffinity(pid, {0}), lambda pid: os.pidfd_open(pid),
    lambda pid: open(f"/proc/{pid}/environ").read(), lambda pid: open(f"/proc/{pid}/mem"),
    lambda pid: resource.prlimit(pid, resource.RLIMIT_CPU, (1, 1)),
    lambda pid: os.setpriority(os.PRIO_PROCESS, pid, 19),
)])
# A signal that is as much forbidden as any, but would do these no harm.
say([attempt(lambda: os.kill(pid, signal.SIGURG)) for pid in parents])
say([ctypes.CDLL(None).ptrace(16, pid, 0, 0) for pid in (victim, *parents)])
try: say([name for name in os.listdir("/proc") if name.isdigit()])
except PermissionError: say([])
"""
    with run(source, victim.pid, os.getpid(), os.getppid()) as child:
        assert set(heard(child)) <= REFUSALS
        assert set(heard(child)) <= REFUSALS
        assert set(heard(child)) == {-1}
        assert len(heard(child)) <= 3
    assert victim.poll() is None
    assert resource.prlimit(victim.pid, resource.RLIMIT_CPU) == unlimited
    victim.kill()
    victim.wait()


def test_the_guard_cannot_be_touched(run):
    source = """
pid = int(sys.stdin.readline())
say(attempt(lambda: os.kill(pid, signal.SIGKILL)))
time.sleep(60)
"""
    with run(source) as child:
        child.send(b"%d\n" % child._guard.pid)
        assert heard(child) in REFUSALS
        assert child.alive


def test_what_would_lead_around_the_sandbox_is_refused(run):
    source = """
import ctypes
libc = ctypes.CDLL(None, use_errno=True)
def call(*arguments):
    return ctypes.get_errno() if libc.syscall(*arguments) < 0 else 0
say([call(number, 0x10000000, 0, 0, 0, 0) for number in (272, 425, 319, 321, 304, 470, 500)]
    if os.uname().machine == "x86_64" else [1])
say(ctypes.get_errno() if libc.prctl(1, 0, 0, 0, 0) < 0 else 0)
say(open("/proc/self/status").read() if os.path.exists("/proc/self/status") and
    attempt(lambda: open("/proc/self/status")) == "done" else "")
"""
    with run(source) as child:
        assert set(heard(child)) <= {1, 38}
        assert heard(child) == 1
        status = heard(child)
    if status:
        assert re.search(r"CapEff:\s+0+\n", status)
        assert re.search(r"CapBnd:\s+0+\n", status)
        assert re.search(r"NoNewPrivs:\s+1\n", status)
        assert re.search(r"Seccomp:\s+2\n", status)


# --- Bounds -----------------------------------------------------------------------------


def test_an_endless_loop_ends_in_time(run):
    source = "signal.signal(signal.SIGTERM, signal.SIG_IGN); say('in'); exec('while True: pass')"
    with run(source, wall_s=1.0) as child:
        began = time.monotonic()
        assert heard(child) == "in"
        with pytest.raises(ChildTimeout):
            child.receive(1)
        assert 0.3 < time.monotonic() - began < 3.0


def test_time_runs_out_also_when_the_grader_does_not_look(run, marker):
    with run("os.close(1)\nwhile True: pass", wall_s=0.5):
        assert gone(marker)


def test_computing_is_counted_over_all_processes(run):
    source = "[os.fork() for _ in range(2)]\nwhile True: pass"
    with run(source, cpu_s=0.6) as child:
        assert end_of(child).limit == "cpu"


def test_a_memory_bomb_hurts_only_itself(run):
    source = "hoard = []\nwhile True: hoard.append(bytearray(b'x' * (1 << 26)))"
    with run(source, memory_bytes=1 << 29) as child:
        assert "MemoryError" in end_of(child).stderr_tail


def test_memory_is_counted_over_all_processes_and_kinds(run):
    source = """
import mmap
[os.fork() for _ in range(2)]
hoard = []
while True:
    hoard.append(mmap.mmap(-1, 1 << 26))
    hoard[-1].write(b"x" * (1 << 26))
"""
    with run(source, memory_bytes=1 << 28) as child:
        assert end_of(child).limit == "memory"


@pytest.mark.parametrize(
    "deed", ["os.fork()", "threading.Thread(target=time.sleep, args=(60,)).start()"]
)
def test_a_bomb_of_processes_or_threads_goes_off_inside(run, deed):
    source = f"""
import threading
while True:
    try: {deed}
    except Exception: pass
"""
    with run(source, processes=32, wall_s=3.0) as child:
        # Where the kernel counts, it refuses; elsewhere the guard ends it.
        with pytest.raises((ChildDied, ChildTimeout)) as caught:
            child.receive(1)
        assert isinstance(caught.value, ChildTimeout) or caught.value.limit == "processes"


def test_a_large_file_is_refused(run, tmp_path):
    source = """
say(attempt(lambda: open("large", "wb").write(bytes(1 << 22))))
say(attempt(lambda: os.truncate(os.open("sparse", os.O_CREAT | os.O_RDWR), 1 << 30)))
"""
    with run(source, file_bytes=1 << 20) as child:
        assert heard(child) == "OSError"
        assert heard(child) == "OSError"
    assert all(path.stat().st_size <= 1 << 20 for path in (tmp_path / "scratch").iterdir())


@pytest.mark.parametrize(
    "deed",
    [
        "open(str(n), 'wb').write(bytes(1 << 20))",
        "os.mkdir(str(n))",
        "hoard(n)",
        "os.mkdir('x' * 250); os.chdir('x' * 250)",
    ],
    ids=["files", "folders", "nameless files", "nested folders"],
)
def test_a_bomb_of_files_is_put_out(run, deed):
    source = f"""
import itertools
held = []
def hoard(n):
    if n < 200:
        held.append(open(str(n), "wb"))
        os.remove(str(n))
        held[-1].write(bytes(1 << 20))
        held[-1].flush()
for n in itertools.count():
    {deed}
    time.sleep(0.0005)
"""
    with run(source, file_bytes=1 << 22) as child:
        assert end_of(child).limit == "files"


def test_a_flood_of_output_is_bounded(run):
    with run("while True: os.write(2, b'water ' * 10000)", output_bytes=1 << 22) as child:
        end = end_of(child)
    assert end.limit == "output"
    assert 0 < len(end.stderr_tail) <= 64 << 10


# --- What is left: nothing --------------------------------------------------------------

DAEMON = """
if os.fork() == 0:
    attempt(os.setsid)
    if os.fork() == 0:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        say("away")
        time.sleep(60)
    os._exit(0)
os.wait()
"""


def test_a_daemon_ends_with_the_program(run, marker):
    with run(DAEMON) as child:
        assert heard(child) == "away"
        end_of(child)
        assert not bearing(marker)


def test_a_daemon_ends_with_the_context(run, marker):
    with run(DAEMON + "time.sleep(60)") as child:
        assert heard(child) == "away"
        assert bearing(marker)
    assert not bearing(marker)


def test_a_child_outlives_the_thread_that_started_it(run):
    """Left to the kernel, "ends with its parent" would mean that thread."""
    children = []
    thread = threading.Thread(target=lambda: children.append(run("say(1); time.sleep(60)")))
    thread.start()
    thread.join()
    with children[0] as child:
        assert heard(child) == 1
        time.sleep(0.3)
        assert child.alive


def test_all_ends_when_the_grader_is_killed(isolation, marker):
    grader = f"""
import sys, time
from enso_jax.submissions._isolation import Limits, start
program = (sys.executable, "-c", {PRELUDE + DAEMON + "time.sleep(60)"!r}, {marker!r})
with start(program, None, (), Limits(60.0, 60.0), {isolation!r}) as child:
    child.receive(10)
    print(child.scratch, flush=True)
    time.sleep(60)
"""
    with subprocess.Popen([sys.executable, "-c", grader], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        scratch = Path(process.stdout.readline().decode().strip())
        assert scratch.is_dir()
        assert bearing(marker)
        process.kill()
    assert gone(marker)
    assert not scratch.exists()


def test_all_ends_when_the_guard_is_killed(run, marker):
    with run(DAEMON + "time.sleep(60)") as child:
        assert heard(child) == "away"
        child._guard.kill()
        with pytest.raises(ChildDied):
            child.receive(1)
        assert gone(marker)


def test_a_scratch_folder_made_here_is_removed_whatever_is_in_it(isolation, marker):
    source = """
for _ in range(1500): os.mkdir("d"); os.chdir("d")
say(os.environ["HOME"])
os.close(0); os.close(1)
time.sleep(60)
"""
    program = (sys.executable, "-c", PRELUDE + source, marker)
    with start(program, None, (), Limits(20.0, 20.0), isolation) as child:
        assert Path(heard(child)) == child.scratch
        assert child.scratch.is_dir()
    assert not child.scratch.exists()


# --- What a model needs -----------------------------------------------------------------


def test_numpy_scipy_and_jax_work_inside(run):
    source = """
import jax, jax.numpy as jnp, numpy as np, scipy.linalg, threading
import enso_jax.state
a = np.eye(3) + 0.1
inverse = jax.jit(lambda x: jnp.linalg.inv(x).sum())
say([float(np.linalg.inv(a).sum()), float(scipy.linalg.expm(a).sum()), float(inverse(a)),
     os.path.realpath(enso_jax.state.__file__)])
"""
    with run(source) as child:
        numpy_sum, scipy_sum, jax_sum, file = heard(child)
    assert numpy_sum == pytest.approx(3 / 1.3)
    assert scipy_sum == pytest.approx(3 * 2.718281828**1.3)
    assert jax_sum == pytest.approx(numpy_sum, rel=1e-5)
    assert Path(file) == (PACKAGE / "state.py").resolve()


def test_ordinary_python_works_inside(run):
    source = """
import multiprocessing, subprocess, tempfile, threading, asyncio
async def two(): return 2
with tempfile.NamedTemporaryFile() as file: file.write(b"x")
thread = threading.Thread(target=lambda: None); thread.start(); thread.join()
say([asyncio.run(two()), subprocess.run(["echo", "three"], capture_output=True).stdout.decode()])
"""
    with run(source) as child:
        assert heard(child) == [2, "three\n"]


# --- Choosing ---------------------------------------------------------------------------


def test_the_best_that_works_is_chosen():
    if available():
        assert choose(None) == available()[0]
    for isolation in available():
        assert choose(isolation) == isolation


def test_nothing_is_never_chosen(monkeypatch):
    monkeypatch.setattr(_isolation, "_obstacle", lambda isolation: "it is not there")
    for wanted in (None, *ISOLATIONS):
        with pytest.raises(IsolationUnavailable, match=r"it is not there.*: (install|use) "):
            choose(wanted)
    with pytest.raises(IsolationUnavailable, match="choose bubblewrap or landlock"):
        choose("none")


def test_without_bubblewrap_landlock_is_chosen(monkeypatch, tmp_path):
    if "landlock" not in available():
        pytest.skip("no Landlock here")
    monkeypatch.setenv("PATH", str(tmp_path))
    _isolation._obstacle.cache_clear()
    try:
        assert choose(None) == "landlock"
        with pytest.raises(IsolationUnavailable, match="apt install bubblewrap"):
            start(("true",), None, (), Limits(5.0, 5.0), "bubblewrap")
    finally:
        _isolation._obstacle.cache_clear()


def test_a_sandbox_that_cannot_be_set_up_runs_nothing(isolation, marker, monkeypatch, tmp_path):
    if isolation != "bubblewrap":
        pytest.skip("a broken bubblewrap is what can be made here")
    broken = tmp_path / "bwrap"
    broken.write_text(
        "#!/bin/sh\necho 'bwrap: No permissions to create new namespace' >&2\nexit 1\n"
    )
    broken.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    with pytest.raises(IsolationUnavailable, match="No permissions to create new namespace"):
        start(("true",), None, (), Limits(5.0, 5.0), isolation)


# --- The filter of system calls ---------------------------------------------------------


def test_the_numbers_are_those_of_the_system():
    headers = {
        0: Path("/usr/include/x86_64-linux-gnu/asm/unistd_64.h"),
        1: Path("/usr/include/asm-generic/unistd.h"),
    }
    tables = _system_calls._REFUSED | _system_calls._REFUSED_WITHOUT_NAMESPACES
    tables |= _system_calls._OWN_ONLY | _system_calls._SIGNALS
    if not all(path.exists() for path in headers.values()):
        pytest.skip("the kernel's headers are not installed")
    for column, path in headers.items():
        listed = {
            name: int(number)
            for name, number in re.findall(
                r"#define __NR(?:3264)?_(\w+)\s+(\d+)\n", path.read_text()
            )
        }
        for name, numbers in tables.items():
            assert listed.get(name, numbers[column]) == numbers[column], name
            assert name in listed or numbers[column] in (None, *range(448, 470)), name


def test_an_older_kernel_lets_signals_go_to_nobody_else(marker):
    if not _system_calls.is_known(platform.machine()):
        pytest.skip("the system calls of this machine are not known")
    source = (
        PRELUDE
        + """
from enso_jax.submissions._system_calls import refuse_system_calls
refuse_system_calls(namespaces=False, signals_stay_inside=False, own_pid=os.getpid())
say([attempt(lambda: os.kill(pid, 0)) for pid in (os.getpid(), 0, os.getppid(), -1, 1)])
os.abort()
"""
    )
    done = subprocess.run(
        [sys.executable, "-c", source, marker], capture_output=True, start_new_session=True
    )
    refused = ["PermissionError"] * 3
    assert json.loads(done.stdout[4:]) == ["done", "done", *refused]
    assert done.returncode == -signal.SIGABRT
