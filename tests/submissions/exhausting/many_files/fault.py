import tempfile

try:
    with tempfile.TemporaryDirectory() as _folder:
        for _k in range(20_000):
            with open(os.path.join(_folder, str(_k)), "w") as _file:
                _file.write("z" * 4096)
except OSError:
    pass
