raise KeyboardInterrupt("not by a keyboard")
