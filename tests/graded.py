"""Results and runs as a store holds them, made up: nothing is graded here."""

import datetime
import hashlib
import json
from collections.abc import Mapping, Sequence

from enso_jax.checkpoints import GradedCheckpoint, GradedRun, Settings, Store, result_key
from enso_jax.grading import GradeResult
from enso_jax.protocol import Protocol

PROTOCOL = Protocol()
SETTINGS = Settings(
    engine="0.1.0+0123456789ab",
    protocol=PROTOCOL.digest(),
    observations="1" * 64,
    observations_name="some record",
    observations_kind="measured",
    seed=0,
    replicates=8,
    engine_choice="auto",
    months_at_1_january=None,
)
NOON = datetime.datetime(2026, 1, 1, 12, tzinfo=datetime.UTC)

#: S, D, P.
Three = tuple[float, float, float]


def changed(**changes: object) -> Settings:
    """The settings with other values."""
    return SETTINGS.model_copy(update=changes)


def scored(three: Three, errors: Three | None = (0.01, 0.01, 0.01)) -> GradeResult:
    """A result with the composite of the protocol's weights and errors that add independently."""
    return _result(
        outcome="scored",
        reason=None,
        scores=_dimensions(three, _composite(three)),
        standard_errors=errors
        and _dimensions(
            errors, sum((w * x) ** 2 for w, x in zip(PROTOCOL.weights, errors, strict=True)) ** 0.5
        ),
    )


def simulated(each: Sequence[Three], skewness: float, observed: float = 0.8) -> GradeResult:
    """A result with these scores of its replicates, and this skewness of T_E."""
    rows = [_dimensions(three, _composite(three)) for three in each]
    means = _means([(*three, _composite(three)) for three in each])
    asymmetry = {"mean": skewness, "standard_error": 0.01, "observed": observed}
    return _result(
        outcome="scored",
        reason=None,
        scores=_dimensions(means[:3], means[3]),
        standard_errors=_dimensions((0.01, 0.01, 0.01), 0.01) if len(each) > 1 else None,
        replicate_scores=tuple(rows),
        replicates=len(each),
        detail={
            "statistical": {
                "groups": {},
                "components": {},
                "event_counts": {},
                "skewness": {"T_C": asymmetry, "T_E": asymmetry},
            },
            "dynamical": {"components": {}, "innovation_variance": {}},
            "predictive": {"components": {}, "by_lead": {}, "starts": 108},
        },
    )


def invalid(category: str = "non_finite", message: str = "it is not finite.") -> GradeResult:
    """A result of a submission that broke the contract."""
    return _result(
        outcome="invalid",
        reason={"category": category, "message": message},
        scores=_dimensions((0.0, 0.0, 0.0), 0.0),
        standard_errors=None,
    )


def keep(
    store: Store,
    system: str,
    results: Sequence[GradeResult],
    settings: Settings = SETTINGS,
    **about: object,
) -> GradedRun:
    """Puts a run with these results into a store, a checkpoint every ten minutes."""
    name = str(about.get("name", system.lower()))
    keys = [result_key(f"{name} {place}", settings) for place in range(len(results))]
    for key, result in zip(keys, results, strict=True):
        store.keep(key, result)
    run = GradedRun.model_validate(
        {
            "name": name,
            "system": system,
            "condition": None,
            "identity": hashlib.sha256(name.encode()).hexdigest()[:16],
            "settings": settings,
            "graded_at": NOON,
            "checkpoints": tuple(
                GradedCheckpoint(
                    name=f"{place:04}",
                    index=place,
                    eligible_s=600.0 * place,
                    phase="C",
                    turn=1,
                    key=key,
                )
                for place, key in enumerate(keys, start=1)
            ),
            **about,
        }
    )
    store.keep_run(run)
    return run


def _result(**outcome: object) -> GradeResult:
    return GradeResult.model_validate(
        {
            "engine_version": "0.1.0",
            "submission": {"name": "0001", "form": "numpy", "engine": "compiled", "digest": "2"},
            "protocol": {"digest": PROTOCOL.digest(), "values": json.loads(PROTOCOL.to_json())},
            "observations": {
                "name": SETTINGS.observations_name,
                "kind": SETTINGS.observations_kind,
                "digest": SETTINGS.observations,
                "stand_ins": 0,
            },
            "seed": SETTINGS.seed,
            "replicates": SETTINGS.replicates,
            "replicate_scores": (),
            "detail": None,
            **outcome,
        }
    )


def _composite(three: Three) -> float:
    return sum(w * x for w, x in zip(PROTOCOL.weights, three, strict=True))


def _means(rows: Sequence[tuple[float, ...]]) -> tuple[float, ...]:
    return tuple(sum(column) / len(rows) for column in zip(*rows, strict=True))


def _dimensions(three: Three, composite: float) -> Mapping[str, float]:
    names = ("statistical", "dynamical", "predictive", "composite")
    return dict(zip(names, (*three, composite), strict=True))
