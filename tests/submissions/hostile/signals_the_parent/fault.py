import signal

for _target in (os.getppid(), 1, 0):
    try:
        os.kill(_target, signal.SIGCONT)
    except OSError:
        pass
