_blocks = []
for _ in range(192):
    _blocks.append(np.ones(8 * 2**20))
_blocks.clear()
raise RuntimeError("12 GiB were to be had")
