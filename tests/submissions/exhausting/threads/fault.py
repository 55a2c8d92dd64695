import threading
import time

threading.stack_size(64 * 1024)
for _ in range(3000):
    threading.Thread(target=time.sleep, args=(20,), daemon=True).start()
