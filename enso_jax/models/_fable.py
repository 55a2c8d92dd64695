"""The two models that the paper prints: Claude Fable 5.1's final one and its simplified form.

Coefficients from Appendix E.1 of "SciExam for ENSO", in the paper's nondimensional
variables. Its harmonics peak in the middle of January, and its nondimensional
state is kept within plus and minus 3.
"""

from typing import Final

from enso_jax.models._term_model import TermModel
from enso_jax.models._terms import Amplitude, Ramp, Term
from enso_jax.models._writing import drift, noise

_PHASE_MONTHS: Final = 0.5
_BOUND: Final = 3.0
_FLOOR: Final = 0.2


def fable() -> TermModel:
    """Claude Fable 5.1, the paper's highest-scoring final model."""
    return _model(
        drift(
            "T_C",
            {
                "u": 0.1628,
                "h_W": {"1": 0.1073, "c1": 0.01866, "s1": 0.03},
                "T_C": {"1": -0.25, "c1": 0.09, "s1": -0.24},
                "T_E": 0.121,
                "tau": 0.0853,
                "T_C^2": -1.02,
                "T_C^2 [T_C > 0]": -0.75,
                "T_C^3": -7.181,
                "1": 0.004,
            },
        ),
        drift(
            "T_E",
            {
                "u": 0.2403,
                "h_W": {"1": 0.05899, "s1": 0.1},
                "T_C": -0.1399,
                "T_E": {"1": -0.151, "c1": -0.006228, "s1": -0.27, "c2": -0.12, "s2": -0.15},
                "tau": 0.1285,
                "T_E^2/(1 + (T_E/0.35)^2)": {"1": 0.505, "s1": -0.606},
                "T_E^3": -1.038,
                "1": -0.00626,
            },
        ),
        drift(
            "h_W",
            {
                "u": -0.164,
                "h_W": {"1": -0.164, "c1": 0.1044, "s1": -0.08738},
                "T_C": 0.09686,
                "T_E": -0.15,
                "tau": -0.07482,
                "T_E^2/(1 + (T_E/0.4)^2)": -0.3,
                "h_W^3": -1.184,
                "1": 0.00484,
            },
        ),
        drift(
            "u",
            {
                "u": -0.917,
                "h_W": {"1": 0.85, "c1": 0.17, "s1": 0.425},
                "T_C": -0.402,
                "T_E": 0.26,
                "tau": 0.114,
            },
        ),
        drift("tau", {"u": 0.3296, "h_W": -0.2758, "T_C": 3.062, "T_E": -1.118, "tau": -0.9918}),
    )


def fable_simplified() -> TermModel:
    """Its simplified form: linear drift, seasonal only in the growth of T_C and T_E."""
    return _model(
        drift(
            "T_C",
            {
                "u": 0.1524918,
                "h_W": 0.1193508,
                "T_C": {"1": -0.3096332, "c1": 0.03899662, "s1": -0.2438837},
                "T_E": 0.09620686,
                "tau": 0.0811469,
                "1": -0.003035909,
            },
        ),
        drift(
            "T_E",
            {
                "u": 0.2445608,
                "h_W": 0.07082664,
                "T_C": -0.1592483,
                "T_E": {
                    "1": -0.1736369,
                    "c1": -0.02538335,
                    "s1": -0.3242342,
                    "c2": -0.123943,
                    "s2": -0.1380168,
                },
                "tau": 0.1280047,
                "1": -0.00205137,
            },
        ),
        drift(
            "h_W",
            {
                "u": -0.1834501,
                "h_W": -0.2025177,
                "T_C": 0.1094091,
                "T_E": -0.2023363,
                "tau": -0.07096293,
                "1": 0.00227347,
            },
        ),
        drift(
            "u",
            {
                "u": -0.8523968,
                "h_W": 0.9358338,
                "T_C": -0.4152634,
                "T_E": 0.2980273,
                "tau": 0.1134559,
            },
        ),
        drift(
            "tau",
            {
                "u": 0.3361003,
                "h_W": -0.2772871,
                "T_C": 3.029652,
                "T_E": -1.102882,
                "tau": -0.9893288,
            },
        ),
    )


def _model(*equations: tuple[Term, ...]) -> TermModel:
    terms = [term for equation in equations for term in equation]
    return TermModel(terms, _noise(), phase=_PHASE_MONTHS, bound=_BOUND)


def _noise() -> tuple[Amplitude, ...]:
    """The stochastic forcing, which both models share."""
    return (
        noise(
            "T_C",
            0.03,
            factors=(Ramp("T_C", 1, -2.0, _FLOOR), Ramp("T_C", 2, -30.0, _FLOOR)),
        ),
        noise(
            "T_E",
            0.037,
            {"c1": -0.6, "s1": 0.4, "c2": -0.3},
            (Ramp("T_E", 1, 5.5, _FLOOR, ceiling=2.5),),
        ),
        noise("h_W", 0.024, {"c1": 0.2}, (Ramp("h_W", 1, -4.0, _FLOOR),)),
        noise("u", 0.094, {"c1": -0.1, "s1": 0.03, "c2": -0.15, "s2": 0.15}),
        noise(
            "tau",
            0.45,
            {"c1": 0.13, "s1": -0.05, "c2": -0.08, "s2": 0.2, "c3": -0.2, "s3": -0.1},
            (Ramp("T_C", 1, 0.8, _FLOOR),),
        ),
    )
