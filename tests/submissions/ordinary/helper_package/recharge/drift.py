import numpy as np

from .parameters import P

A = np.array(P["A"])


def advance(x, t, dt):
    rate = P["growth"]["amp"] * np.cos(2 * np.pi * (t - P["growth"]["peak"]) / 12)
    f = x @ A.T
    f[:, 1] += (rate - P["cubic"] * x[:, 1] ** 2) * x[:, 1]
    return x + dt * f
