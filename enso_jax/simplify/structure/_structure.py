"""Of which terms is a model made, if it is only known by what it does?

By its drift and by the covariance of its noise, exactly and at many states
(`enso_jax.fitting`). Each equation's drift is taken for a sum of few terms, and the
amplitude of its noise for a level in its season times factors of the state. How far that
reaches is then measured with the model that was found, at all samples::

    drift_share = 1 - var(f - f_found) / var(f)
    noise_share = 1 - mean (g - g_found)^2 / mean g^2,     g_i = sqrt(Q_ii)
"""

import dataclasses
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

import jax
import jax.numpy as jnp
import numpy as np

from enso_jax.fitting import Samples
from enso_jax.models import Amplitude, Term, TermModel, season
from enso_jax.simplify.structure._behaviour import Behaviour, behaviour
from enso_jax.simplify.structure._drift import drift_terms
from enso_jax.simplify.structure._library import Values, library
from enso_jax.simplify.structure._mixing import correlation_share, correlations, mixing
from enso_jax.simplify.structure._noise import amplitude, state_dependence
from enso_jax.state import NAMES

#: The least share of a drift's variance that has to be explained for the drift to be called
#: linear or nonlinear: half of what the nonlinear terms make in any equation of the built-in
#: models that has some may be missing.
DRIFT_SHARE: Final = 0.995
#: The least share of an amplitude's mean square: a departure of a tenth of it.
NOISE_SHARE: Final = 0.99
#: The least `correlation_share`: correlations that vary by a tenth.
CORRELATION_SHARE: Final = 0.99
#: The largest share of a noise's mean square that may not be linear in its normals: as much as
#: an amplitude may depart. A Milstein step has a tenth of it.
NONLINEAR_NOISE: Final = 0.01

#: The drift is exact, so that 20,000 samples fix hundreds of coefficients as well as all do. How
#: well is then measured at all.
_FITTED: Final = 20_000
#: The model is kept within this many times the largest nondimensional state that was seen.
#: Its terms are known no farther, and when some are dropped the others may not hold it.
_BOUND: Final = 2.0
#: Nondimensional mean squares below it are rounding.
_ROUNDING: Final = 1e-20

PerEquation = Mapping[str, float]


@dataclasses.dataclass(frozen=True)
class Structure:
    """The terms that a model is made of, and how far they reach.

    Attributes:
        model: the terms, in the variables and units of the built-in models.
        drift_share: for each equation, the share of the drift's variance that the model's terms
            explain; 1 is all.
        noise_share: for each equation, 1 less the mean square by which the model's amplitude
            departs from g, as a share of the mean square of g; 1 is perfect.
        state_dependence: for each equation, the share of g's mean square that is its variance
            among states of one phase of the year; 0 for additive noise.
        correlation_share: 1 less the largest variance of the correlation of two equations'
            noises; 1 where all are constant, as they are in the model.
        nonlinear_noise: for each equation, the share of the noise's mean square that is not
            linear in its normals; the found model has none.
    """

    model: TermModel
    drift_share: PerEquation
    noise_share: PerEquation
    state_dependence: PerEquation
    correlation_share: float
    nonlinear_noise: PerEquation

    def faults(self) -> tuple[str, ...]:
        """Why the model should not be taken for the one it was found in, one sentence each."""
        return tuple(self._faults())

    def _faults(self) -> Iterator[str]:
        for name in NAMES:
            if (share := self.drift_share[name]) < DRIFT_SHARE:
                yield (
                    f"The drift of {name} is explained to {share:.4g} of its variance, "
                    f"under {DRIFT_SHARE:g}: it is not classified."
                )
            if (share := self.nonlinear_noise[name]) > NONLINEAR_NOISE:
                yield (
                    f"The noise of {name} is not linear in its normals to {share:.2g} of its mean "
                    f"square, over {NONLINEAR_NOISE:g}: it is not classified."
                )
            if (share := self.noise_share[name]) < NOISE_SHARE:
                yield (
                    f"The amplitude of the noise of {name} is explained to {share:.4g} of its mean "
                    f"square, under {NOISE_SHARE:g}: it is not classified."
                )
        if self.correlation_share < CORRELATION_SHARE:
            yield (
                "The correlations between the noises of two equations vary, with a variance of up "
                f"to {1.0 - self.correlation_share:.2g}, over {1.0 - CORRELATION_SHARE:.2g}: "
                "constant ones do not stand for them."
            )


def find_structure(samples: Samples, *, phase: float = 0.5) -> Structure:
    """The terms of the model that gave `samples`.

    Args:
        samples: what the model does along its own run.
        phase: the month at which the cosines of the found model's harmonics peak; that of the
            paper's models if not given.

    Raises:
        ValueError: if the samples are not finite: such a model has no structure to be found.
    """
    if not all(np.isfinite(leaf).all() for leaf in jax.tree.leaves(samples)):
        raise ValueError("the samples are not finite; a model that breaks down has no structure")
    whole = behaviour(samples)
    dependence = [state_dependence(g, whole.t) for g in whole.g.T]
    R = correlations(whole.Q, whole.g)
    model = TermModel(
        *_equations(whole.thinned(_FITTED), dependence, phase),
        phase=phase,
        bound=_BOUND * float(np.abs(whole.x).max()),
        mixing=mixing(R.mean(axis=0)),
    )
    f, g = whole.of(model)
    variance, square = whole.f.var(axis=0), (whole.g**2).mean(axis=0)
    return Structure(
        model=model,
        drift_share=_named(1.0 - _share((whole.f - f).var(axis=0), variance)),
        noise_share=_named(1.0 - _share(((whole.g - g) ** 2).mean(axis=0), square)),
        state_dependence=_named(dependence),
        correlation_share=correlation_share(R),
        nonlinear_noise=_named(samples.nonlinear_noise),
    )


def _equations(
    seen: Behaviour, dependence: Sequence[float], phase: float
) -> tuple[list[Term], list[Amplitude]]:
    """The drift terms and the amplitudes of all equations."""
    x, seasons = _by_name(seen, phase)
    columns = library(x, seasons)
    terms = [
        term
        for name, f in zip(NAMES, seen.f.T, strict=True)
        for term in drift_terms(name, f, columns, x, seasons)
    ]
    amplitudes = [
        amplitude(name, g, share, x, seasons)
        for name, g, share in zip(NAMES, seen.g.T, dependence, strict=True)
    ]
    return terms, amplitudes


def _by_name(seen: Behaviour, phase: float) -> tuple[Values, Values]:
    """The states and the harmonics, as the terms of a model take them."""
    cycles = season(jnp.asarray(seen.t), jnp.asarray(phase, seen.t.dtype))
    states = zip(NAMES, jnp.asarray(seen.x.T), strict=True)
    return dict(states), cycles


def _share(part: np.ndarray, whole: np.ndarray) -> np.ndarray:
    """``part / whole``; 0 where the part is rounding, also of nothing."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(part > _ROUNDING, part / whole, 0.0)


def _named(values: Iterable[float]) -> PerEquation:
    return dict(zip(NAMES, map(float, values), strict=True))
