"""Does the model have the observed mix of events?

With m the mean simulated and o the observed count of a type (`enso_jax.events`), the
contribution of the type to Equation 4 of the paper is ``exp(-((m - o) / (0.2 o))^2 / 2)``.
"""

from collections.abc import Mapping

import numpy as np


def event_scores(
    mean_counts: Mapping[str, float], observed: Mapping[str, int], tolerance: float
) -> dict[str, float]:
    """The contribution of each type to Equation 4, 1 where the counts agree.

    A type that was never observed is given the tolerance of one that was seen once.
    """
    return {
        name: float(np.exp(-0.5 * ((mean_counts[name] - count) / (tolerance * max(count, 1))) ** 2))
        for name, count in observed.items()
    }
