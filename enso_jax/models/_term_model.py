"""How is a model written down so that its terms can be dropped, refitted and read?

As data: drift terms and noise amplitudes (`enso_jax.models._terms`), stepped in
nondimensional variables by the Euler-Maruyama scheme::

    x = state / scales,   d = dt / time_scale
    x_i(t + dt) = clip( x_i + f_i(x, t) d + g_i(x, t) sqrt(d) n_i, +-bound ),   n = mixing noise
"""

from collections.abc import Iterable

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, ArrayLike, Float

from enso_jax import state as state_
from enso_jax.models._arithmetic import between, total
from enso_jax.models._harmonics import Season, season
from enso_jax.models._step import Step
from enso_jax.models._terms import Amplitude, Number, State, Term, number


class TermModel(Step):
    """A five-variable model as a list of terms.

    Attributes:
        terms: the drift terms, in the order in which they are printed.
        amplitudes: one noise amplitude for each equation, in the order of the variables.
        phase: the month at which the harmonics' cosines peak.
        bound: the nondimensional state is kept within plus and minus this, a
            numerical safeguard; infinite for none. A NaN stays a NaN.
        scales: (5,) units of the nondimensional variables.
        time_scale: months in one unit of nondimensional time.
        mixing: (5, 5), lower triangular with rows of length 1, which makes correlated normals
            out of independent ones; None where the equations' noises are independent.
    """

    terms: tuple[Term, ...]
    amplitudes: tuple[Amplitude, ...]
    phase: Number
    bound: Number
    scales: Float[Array, " variable"]
    time_scale: Number
    mixing: Float[Array, "variable variable"] | None
    noise_size: int = eqx.field(static=True, default=len(state_.NAMES))

    def __init__(
        self,
        terms: Iterable[Term],
        amplitudes: Iterable[Amplitude],
        *,
        phase: float = 0.0,
        bound: float = float("inf"),
        scales: Iterable[float] = tuple(variable.scale for variable in state_.VARIABLES),
        time_scale: float = state_.TIME_SCALE_MONTHS,
        mixing: ArrayLike | None = None,
    ) -> None:
        """See the attributes.

        Raises:
            ValueError: if an equation has no amplitude, or has two, or is no variable's; or if
                `mixing` is not lower triangular, or a row of it is not of length 1.
        """
        self.terms = tuple(terms)
        self.amplitudes = tuple(amplitudes)
        self.phase = number(phase)
        self.bound = number(bound)
        self.scales = jnp.asarray(tuple(scales), dtype=float)
        self.time_scale = number(time_scale)
        self.mixing = None if mixing is None else jnp.asarray(_checked(mixing), dtype=float)
        self.noise_size = len(self.amplitudes)
        if tuple(amplitude.equation for amplitude in self.amplitudes) != state_.NAMES:
            raise ValueError(f"a TermModel has one noise amplitude for each of {state_.NAMES}")
        if strays := {term.equation for term in self.terms} - set(state_.NAMES):
            raise ValueError(f"a TermModel has equations for {state_.NAMES}, none for {strays}")

    def __call__(self, state, t, dt, noise):
        x, seasons = self._scaled(state), season(t, self.phase)
        d = dt / self.time_scale
        parts = zip(
            x.values(),
            self._drift(x, seasons),
            self._diffusion(x, seasons),
            self._mixed(noise),
            strict=True,
        )
        new = [x + f * d + g * (jnp.sqrt(d) * normal) for x, f, g, normal in parts]
        return between(-self.bound, jnp.stack(new), self.bound) * self.scales

    def drift(
        self, state: Float[Array, " variable"], t: Float[Array, ""]
    ) -> Float[Array, " variable"]:
        """f(x, t), nondimensional, at a state in physical units and a time in months."""
        return jnp.stack(self._drift(self._scaled(state), season(t, self.phase)))

    def diffusion(
        self, state: Float[Array, " variable"], t: Float[Array, ""]
    ) -> Float[Array, " variable"]:
        """g(x, t), nondimensional, at a state in physical units and a time in months."""
        return jnp.stack(self._diffusion(self._scaled(state), season(t, self.phase)))

    def _scaled(self, state: Float[Array, " variable"]) -> dict[str, Array]:
        # A product, since this begins the chain of operations from one state to the next, and a
        # division takes as long as four of them.
        return dict(zip(state_.NAMES, state * (1.0 / self.scales), strict=True))

    def _drift(self, x: State, seasons: Season) -> list[Array]:
        drift: dict[str, list[Array]] = {name: [] for name in state_.NAMES}
        for term in self.terms:
            drift[term.equation].append(term(x, seasons))
        return [total(terms or [jnp.zeros_like(x[name])]) for name, terms in drift.items()]

    def _diffusion(self, x: State, seasons: Season) -> list[Array]:
        return [amplitude(x, seasons) for amplitude in self.amplitudes]

    def _mixed(self, noise: Float[Array, " q"]) -> list[Array]:
        normals = list(noise)
        if self.mixing is None:
            return normals
        return [
            total([self.mixing[row, column] * normals[column] for column in range(row + 1)])
            for row in range(len(normals))
        ]

    @property
    def nonlinear(self) -> bool:
        """Whether any drift term is nonlinear in the state."""
        return any(not term.feature.linear for term in self.terms)

    @property
    def multiplicative(self) -> bool:
        """Whether any noise amplitude depends on the state."""
        return any(amplitude.factors for amplitude in self.amplitudes)

    @property
    def family(self) -> str:
        """The model's kind of drift and of noise, in the paper's words."""
        drift = "nonlinear" if self.nonlinear else "linear"
        noise = "multiplicative" if self.multiplicative else "additive"
        return f"{drift} drift, {noise} noise"

    def conventions(self) -> str:
        """What the symbols of the equations stand for, in one line."""
        scales = ", ".join(
            f"{variable.name} in {scale:g} {variable.units}"
            for variable, scale in zip(state_.VARIABLES, self.scales.tolist(), strict=True)
        )
        phase = f"k 2 pi (t - {float(self.phase):g})/12, t in months from 1 January"
        return (
            f"{scales}; time in {float(self.time_scale):g} months; "
            f"c_k, s_k are the cosine and sine of {phase}."
        )

    def equations(self) -> list[str]:
        """The nondimensional equations as text, one for each variable."""
        lines = []
        for amplitude in self.amplitudes:
            name = amplitude.equation
            drift = [term.text() for term in self.terms if term.equation == name]
            total = " + ".join(drift).replace("+ -", "- ") or "0"
            lines.append(f"d{name} = [ {total} ] dt + {amplitude.text()} dW_{name}")
        return lines


def _checked(given: ArrayLike) -> np.ndarray:
    mixing = np.asarray(given)
    lengths = np.linalg.norm(mixing, axis=1)
    if not np.array_equal(mixing, np.tril(mixing)) or not np.allclose(lengths, 1.0, atol=1e-9):
        raise ValueError("mixing is lower triangular, and its rows are of length 1")
    return mixing
