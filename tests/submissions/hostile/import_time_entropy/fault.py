A[1, 1] -= 0.1 * os.urandom(1)[0] / 255
