import subprocess

try:
    subprocess.Popen(["sleep", "307.25"], start_new_session=True, stdout=subprocess.DEVNULL)
except OSError:
    pass
