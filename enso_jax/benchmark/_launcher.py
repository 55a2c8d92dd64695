"""What does a command cost, from its start to its end? Run as a script, by `_processes`.

Writes exit status, seconds and peak memory to stdout. It stands between the benchmark and the
command because Linux counts the memory of the process that starts a command as the command's
own: this one is small.
"""

import json
import os
import subprocess
import sys
import time


def main() -> None:
    """Runs the command that the arguments are, without its output."""
    begin = time.perf_counter()
    process = subprocess.Popen(sys.argv[1:], stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    spent = time.perf_counter() - begin
    cost = [os.waitstatus_to_exitcode(status), spent, usage.ru_maxrss]
    os.write(1, json.dumps(cost).encode())


if __name__ == "__main__":
    main()
