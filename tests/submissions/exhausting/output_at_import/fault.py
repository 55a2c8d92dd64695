import sys

_text = "x" * 2**20
for _ in range(512):
    print(_text)
    print(_text, file=sys.stderr)
