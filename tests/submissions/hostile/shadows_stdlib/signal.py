raise ImportError("this is not signal")
