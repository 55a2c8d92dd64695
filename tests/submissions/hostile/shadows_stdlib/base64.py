raise ImportError("this is not base64")
