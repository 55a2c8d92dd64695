import signal
import subprocess

try:
    subprocess.Popen(["sh", "-c", f"sleep 120; kill -CONT {os.getpid()}"], start_new_session=True)
    _waker = True
except OSError:
    _waker = False


def step(state, t, dt, rng):
    if not _waker:
        os.kill(os.getpid(), signal.SIGKILL)
    os.kill(os.getpid(), signal.SIGSTOP)
    return state
