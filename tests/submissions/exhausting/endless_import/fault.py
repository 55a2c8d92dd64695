import time

_end = time.monotonic() + 3600
while time.monotonic() < _end:
    pass
