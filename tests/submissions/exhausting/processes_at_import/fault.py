import time

for _ in range(300):
    if os.fork() == 0:
        time.sleep(30)
        os._exit(0)
