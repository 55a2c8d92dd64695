from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np


@dataclass(frozen=True, slots=True)
class Parameters:
    A: np.ndarray
    sigma: np.ndarray
    amp: float
    peak: float
    cubic: float = 0.0
    names: tuple[str, ...] = field(default=("T_C", "T_E", "h_W", "u", "tau"))

    @classmethod
    def read(cls, path: Path) -> Parameters:
        raw = json.loads(path.read_text())
        return cls(np.array(raw["A"]), np.array(raw["sigma"]), **raw["growth"], cubic=raw["cubic"])


P = Parameters.read(Path(__file__).resolve().parent / "params.json")
T_E = P.names.index("T_E")


def step(state: np.ndarray, t: float, dt: float, rng: np.random.Generator) -> np.ndarray:
    f = np.matmul(state, P.A.T)
    rate = P.amp * np.cos(2 * np.pi * (t - P.peak) / 12.0)
    f[:, T_E] = f[:, T_E] + rate * state[:, T_E] - P.cubic * state[:, T_E] ** 3
    return state + f * dt + rng.standard_normal(state.shape) * (P.sigma * np.sqrt(dt))
