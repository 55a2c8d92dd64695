raise ImportError("this is not random")
