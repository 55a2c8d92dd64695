def loads(*args, **kwargs):
    raise ImportError("this is not json")


load = dumps = dump = loads
