import tempfile

_piece = os.urandom(2**20)
with tempfile.TemporaryFile(dir=os.getcwd()) as _file:
    for _ in range(1024):
        _file.write(_piece)
        _file.flush()
