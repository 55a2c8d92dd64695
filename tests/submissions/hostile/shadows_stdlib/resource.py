raise ImportError("this is not resource")
