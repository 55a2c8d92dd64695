raise ImportError("this is not struct")
