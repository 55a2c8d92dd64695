class Unprintable(Exception):
    def __str__(self):
        if self.args:
            raise RuntimeError("no text")
        return "x" * 100_000_000

    __repr__ = __str__


def step(state, t, dt, rng):
    raise Unprintable("hidden")
