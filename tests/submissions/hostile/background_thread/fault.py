import threading
import time


def _change():
    time.sleep(0.5)
    A[...] = 0.5 * A


threading.Thread(target=_change, daemon=True).start()
