"""How does a model of terms lie in a file, to be read, edited and had back?

As JSON, with its numbers in full and its features as their formulas::

    {"format": "enso-jax term model", "version": 1,
     "scales": {"T_C": 7.5, ...}, "time_scale_months": 2.0, "phase_months": 0.5, "bound": 3.0,
     "drift": {"T_E": {"u": 0.2403, "h_W": {"1": 0.05899, "s1": 0.1}, "T_E^3": -1.038}, ...},
     "noise": {"T_E": {"level": 0.037, "season": {"1": 1.0, "c1": -0.6},
                       "factors": [{"kind": "ramp", "variable": "T_E", "power": 1,
                                    "slope": 5.5, "floor": 0.2, "ceiling": 2.5}]}, ...},
     "mixing": null}

A bound or a ceiling that is infinite is null, and so is the mixing of independent noises.
Groups are not written: they are named again, by what each term is, when the file is read.
"""

import json
from collections.abc import Mapping
from typing import Annotated, Any, Final, Literal, TypeVar

import numpy as np
import pydantic

from enso_jax.models import (
    CONSTANT,
    HARMONICS,
    Amplitude,
    Factor,
    Ramp,
    Saturating,
    Sigmoid,
    TermModel,
    as_written,
    drift,
    feature,
    noise,
)
from enso_jax.state import NAMES

_FORMAT: Final = "enso-jax term model"
_VERSION: Final = 1
#: Letters of a line, beyond which a list or an object has a line for each of its items.
_LINE: Final = 110


class ModelFileError(ValueError):
    """A text is no model, or a model cannot be a text. Its text is one sentence."""


def term_model_to_json(model: TermModel) -> str:
    """The text of `model`, from which `term_model_from_json` makes the same numbers.

    Terms of one equation with one feature become one entry: their harmonics stand together,
    and coefficients of one harmonic are summed.

    Raises:
        ModelFileError: if a number is NaN, or infinite where the format has no word for it, or
            if a feature or a factor is of a kind of its own.
    """
    return f"{_laid_out(_checked(_contents(model), 'The model cannot be written').model_dump())}\n"


def term_model_from_json(text: str) -> TermModel:
    """The model that `text` holds.

    Terms are grouped as `drift` and `noise` group them: a linear coupling's seasonal cycle is
    a term of its own.

    Raises:
        ModelFileError: if it is no such text; its sentence says what is wrong, and where.
    """
    problem = "The text is no term model"
    try:
        contents = json.loads(text, object_pairs_hook=_each_once)
    except (ValueError, RecursionError) as error:
        raise ModelFileError(f"{problem}: {error}.") from error
    if not isinstance(contents, dict):
        raise ModelFileError(f"{problem}: it is JSON, but no object.")
    file = _checked(contents, problem)
    try:
        return _model(file)
    except ValueError as error:
        raise ModelFileError(f"{problem}: {error}.") from error


# --- What may stand in a file -----------------------------------------------------------


def _a_variable(name: str) -> str:
    if name not in NAMES:
        raise ValueError(f"{name!r} is none of the variables {NAMES}")
    return name


def _a_formula(formula: str) -> str:
    shape = feature(formula)
    if isinstance(shape, Saturating) and not 0.0 < abs(float(shape.scale)) < np.inf:
        raise ValueError(f"the scale in {formula!r} is not a finite number other than 0")
    return formula


def _of_known_harmonics(by_harmonic: dict[str, float]) -> dict[str, float]:
    if strays := by_harmonic.keys() - set(HARMONICS):
        raise ValueError(f"{sorted(strays)} are no harmonics; they are called {HARMONICS}")
    return by_harmonic


def _with_a_mean(season: dict[str, float]) -> dict[str, float]:
    if CONSTANT not in season:
        raise ValueError(f"the mean is missing: write {CONSTANT!r}, usually as 1.0")
    return season


def _by_harmonic(coefficient: object) -> object:
    if isinstance(coefficient, bool) or not isinstance(coefficient, float | int | dict):
        raise ValueError("a coefficient is a number, or an object of its harmonics' numbers")
    return coefficient if isinstance(coefficient, dict) else {CONSTANT: coefficient}


_Item = TypeVar("_Item")


def _one_for_each(by_variable: dict[str, _Item]) -> dict[str, _Item]:
    if set(by_variable) != set(NAMES):
        raise ValueError(f"there is one entry for each of {NAMES}, not for {tuple(by_variable)}")
    return {name: by_variable[name] for name in NAMES}


_Finite = Annotated[float, pydantic.Field(allow_inf_nan=False)]
_Positive = Annotated[float, pydantic.Field(allow_inf_nan=False, gt=0.0)]
_Variable = Annotated[str, pydantic.AfterValidator(_a_variable)]
_Formula = Annotated[str, pydantic.AfterValidator(_a_formula)]
_Harmonics = Annotated[
    dict[str, _Finite],
    pydantic.Field(min_length=1),
    pydantic.AfterValidator(_of_known_harmonics),
]
_Coefficient = Annotated[_Harmonics, pydantic.BeforeValidator(_by_harmonic)]
_Season = Annotated[_Harmonics, pydantic.AfterValidator(_with_a_mean)]
_Each = Annotated[dict[str, _Item], pydantic.AfterValidator(_one_for_each)]
_Row = Annotated[list[_Finite], pydantic.Field(min_length=len(NAMES), max_length=len(NAMES))]
_Square = Annotated[list[_Row], pydantic.Field(min_length=len(NAMES), max_length=len(NAMES))]


class _Exact(pydantic.BaseModel):
    """Nothing is added, left out or of another type."""

    model_config = pydantic.ConfigDict(frozen=True, extra="forbid", strict=True)


class _Ramp(_Exact):
    kind: Literal["ramp"]
    variable: _Variable
    power: Annotated[int, pydantic.Field(ge=1)]
    slope: _Finite
    floor: _Finite
    ceiling: _Finite | None

    def factor(self) -> Ramp:
        ceiling = np.inf if self.ceiling is None else self.ceiling
        return Ramp(self.variable, self.power, self.slope, self.floor, ceiling)


class _Sigmoid(_Exact):
    kind: Literal["sigmoid"]
    variable: _Variable
    slope: _Finite

    def factor(self) -> Sigmoid:
        return Sigmoid(self.variable, self.slope)


class _Noise(_Exact):
    level: _Finite
    season: _Season
    factors: list[Annotated[_Ramp | _Sigmoid, pydantic.Field(discriminator="kind")]]

    def amplitude(self, equation: str) -> Amplitude:
        factors = tuple(factor.factor() for factor in self.factors)
        return noise(equation, self.level, self.season, factors)


class _File(_Exact):
    format: Literal["enso-jax term model"]
    version: Literal[1]
    scales: _Each[_Positive]
    time_scale_months: _Positive
    phase_months: _Finite
    bound: _Positive | None
    drift: _Each[dict[_Formula, _Coefficient]]
    noise: _Each[_Noise]
    mixing: _Square | None

    @pydantic.field_serializer("drift")
    def _plain_where_not_seasonal(
        self, drift: Mapping[str, Mapping[str, Mapping[str, float]]]
    ) -> dict[str, dict[str, float | Mapping[str, float]]]:
        return {
            equation: {
                formula: size[CONSTANT] if size.keys() == {CONSTANT} else size
                for formula, size in terms.items()
            }
            for equation, terms in drift.items()
        }


def _checked(contents: object, problem: str) -> _File:
    """`contents` if a file may hold them; else one sentence that begins with `problem`."""
    try:
        return _File.model_validate(contents)
    except pydantic.ValidationError as error:
        raise ModelFileError(f"{problem}: {_first_fault(error)}.") from error


def _first_fault(error: pydantic.ValidationError) -> str:
    """Where the first thing that is wrong is, and what, as a part of a sentence."""
    first = error.errors()[0]
    # What our own validators say, without pydantic's words before it.
    said = str(first.get("ctx", {}).get("error", first["msg"]))
    places = [place for place in first["loc"] if place != "[key]"]
    if not places:
        return f"{said[0].lower()}{said[1:]}"
    place = str(places[0]) + "".join(f"[{json.dumps(inner)}]" for inner in places[1:])
    return f"at {place}, {said[0].lower()}{said[1:]}"


def _each_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object whose names are not repeated, of which JSON would keep the last."""
    found: dict[str, Any] = {}
    for name, value in pairs:
        if name in found:
            raise ValueError(f"{name!r} stands twice in one object")
        found[name] = value
    return found


# --- From a model and back --------------------------------------------------------------


def _contents(model: TermModel) -> dict[str, object]:
    return {
        "format": _FORMAT,
        "version": _VERSION,
        "scales": dict(zip(NAMES, model.scales.tolist(), strict=True)),
        "time_scale_months": float(model.time_scale),
        "phase_months": float(model.phase),
        "bound": _or_null(float(model.bound)),
        "drift": as_written(model.terms),
        "noise": {amplitude.equation: _noise_contents(amplitude) for amplitude in model.amplitudes},
        "mixing": None if model.mixing is None else model.mixing.tolist(),
    }


def _noise_contents(amplitude: Amplitude) -> dict[str, object]:
    season = dict(zip(amplitude.harmonics, amplitude.modulation.tolist(), strict=True))
    return {
        "level": float(amplitude.level),
        "season": {CONSTANT: 0.0} | season,
        "factors": [_factor_contents(factor) for factor in amplitude.factors],
    }


def _factor_contents(factor: Factor) -> dict[str, object]:
    match factor:
        case Ramp():
            return {
                "kind": "ramp",
                "variable": factor.variable,
                "power": factor.power,
                "slope": float(factor.slope),
                "floor": float(factor.floor),
                "ceiling": _or_null(float(factor.ceiling)),
            }
        case Sigmoid():
            slope = float(factor.slope)
            return {"kind": "sigmoid", "variable": factor.variable, "slope": slope}
    raise ModelFileError(
        f"The model cannot be written: a factor is a ramp or a sigmoid, not {factor.text()}."
    )


def _or_null(value: float) -> float | None:
    return None if value == np.inf else value


def _model(file: _File) -> TermModel:
    return TermModel(
        [term for equation, terms in file.drift.items() for term in drift(equation, terms)],
        [one.amplitude(equation) for equation, one in file.noise.items()],
        phase=file.phase_months,
        bound=np.inf if file.bound is None else file.bound,
        scales=file.scales.values(),
        time_scale=file.time_scale_months,
        mixing=None if file.mixing is None else np.asarray(file.mixing, dtype=float),
    )


def _laid_out(value: Any, depth: int = 0) -> str:
    """`value` as JSON: on one line where it fits, else a line for each item."""
    line = json.dumps(value, allow_nan=False)
    indent = "  " * (depth + 1)
    if not isinstance(value, dict | list) or (depth and len(indent + line) <= _LINE):
        return line
    if isinstance(value, dict):
        items = [
            f"{json.dumps(name)}: {_laid_out(item, depth + 1)}" for name, item in value.items()
        ]
    else:
        items = [_laid_out(item, depth + 1) for item in value]
    opening, closing = line[0], line[-1]
    inner = f",\n{indent}".join(items)
    return f"{opening}\n{indent}{inner}\n{indent[2:]}{closing}"
