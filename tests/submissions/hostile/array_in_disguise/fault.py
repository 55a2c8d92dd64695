_step = step
_calls = 0


class Disguise:
    dtype, ndim = np.dtype(float), 2

    def __init__(self, values):
        self._values = values
        self.shape = values.shape

    __class__ = property(lambda self: np.ndarray)

    def __array__(self, dtype=None, copy=None):
        global _calls
        _calls += 1
        return self._values if _calls % 2 else 0.5 * self._values

    def tobytes(self, order="C"):
        return self.__array__().tobytes()


def step(state, t, dt, rng):
    return Disguise(_step(state, t, dt, rng))
