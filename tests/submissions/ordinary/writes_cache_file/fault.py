_cache = os.path.join(os.path.dirname(os.path.abspath(__file__)), "table_cache.npy")
try:
    np.save(_cache, A)
    A = np.load(_cache)
except OSError:
    pass
