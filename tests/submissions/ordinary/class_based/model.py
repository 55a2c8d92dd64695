import json
from abc import ABC, abstractmethod
from pathlib import Path

import numpy as np


class Model(ABC):
    def __init__(self, parameters):
        for name, value in parameters.items():
            setattr(self, name, np.asarray(value) if isinstance(value, list) else value)

    @abstractmethod
    def tendency(self, x, t): ...

    @property
    def noise_scale(self):
        return self.sigma[None, :]

    def step(self, state, t, dt, rng):
        x = np.array(state, dtype=np.float64)
        kick = rng.standard_normal(size=x.shape)
        return x + self.tendency(x, t) * dt + self.noise_scale * kick * dt**0.5


class Recharge(Model):
    @staticmethod
    def season(t, peak):
        return np.cos(np.pi * (t - peak) / 6)

    def tendency(self, x, t):
        out = np.dot(x, self.A.transpose())
        rate = self.growth["amp"] * self.season(t, self.growth["peak"])
        out[:, 1] += (rate - self.cubic * np.square(x[:, 1])) * x[:, 1]
        return out


step = Recharge(json.loads(Path(__file__).with_name("params.json").read_text())).step
