raise ImportError("this is not pickle")
