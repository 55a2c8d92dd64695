step = 1 / 30
