"""How good is a model in one number?

The composite of Equation 2 of the paper: ``C = 0.3 S + 0.3 D + 0.4 P``.
"""

from enso_jax.protocol import Protocol


def composite_score(
    statistical: float, dynamical: float, predictive: float, protocol: Protocol
) -> float:
    """The weighted sum of the three dimension scores."""
    return sum(
        weight * score
        for weight, score in zip(
            protocol.weights, (statistical, dynamical, predictive), strict=True
        )
    )
