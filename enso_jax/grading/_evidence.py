"""What do the scores rest on? The experiments' arrays, as one labelled dataset.

`experiments.nc` follows the CF conventions: every variable has units and a long
name, NaN is the fill value and means missing. Figures are drawn from it alone, so
that they can be drawn again from the file.
"""

from collections.abc import Sequence
from typing import Final

import numpy as np
import xarray as xr

from enso_jax import __version__
from enso_jax.grading._result import GradeResult
from enso_jax.grading._runs import Experiments
from enso_jax.observations import Record
from enso_jax.protocol import EVENT_TYPES, Protocol
from enso_jax.scores import INDICES, TESTS, Climate, pdf_grid
from enso_jax.state import MONTHS_PER_YEAR, VARIABLES

_CURVES: Final = {
    "pdf": ("anomaly", "degC-1", "probability density of {}"),
    "seasonal_variance": ("calendar_month", "degC2", "variance by calendar month of {}"),
    "acf": ("lag", "1", "autocorrelation of {}"),
}
_SMOOTHING: Final = {
    "filtered": "filtered ensemble mean of the {}",
    "smoothed": "smoothed ensemble mean of the {}",
    "spread": "smoothed ensemble standard deviation of the {}",
}


def evidence(
    experiments: Experiments,
    climates: Sequence[Climate],
    observed: Climate,
    record: Record,
    protocol: Protocol,
    result: GradeResult,
) -> xr.Dataset:
    """The dataset of one grade; dimensions are in the order in which they are listed.

    - ``free_run_X (replicate, free_run_month)`` for each of the five variables X;
    - ``pdf_X``, ``seasonal_variance_X``, ``acf_X (replicate, segment, point)`` and
      ``observed_...`` for T_C and T_E;
    - ``event_count (replicate, event_segment, event_type)``, ``observed_event_count``;
    - ``event_strength``, ``event_longitude (replicate, event)``, ``observed_...``;
    - ``filtered_X``, ``smoothed_X``, ``spread_X (replicate, test, time)``, ``observed_X (time)``;
    - ``innovation_X (replicate, test, time)``, in standard deviations;
    - ``forecast_X``, ``forecast_spread_X (replicate, start, lead)``;
    - ``held_out_X (held_out_time)``.
    """
    parts = (
        _free_run(experiments),
        _curves(climates, observed, protocol),
        _events(climates, observed),
        _smoothing(experiments, record),
        _forecasts(experiments, record),
    )
    return xr.merge(parts, join="outer", compat="no_conflicts").assign_attrs(
        Conventions="CF-1.11",
        title=f"Evidence for the grade of {result.submission.name}",
        source=f"enso-jax {__version__}",
        submission=result.submission.name,
        submission_digest=result.submission.digest,
        observations=record.name,
        observations_kind=record.kind,
        observations_digest=record.digest,
        protocol=protocol.to_json(),
        protocol_digest=result.protocol.digest,
        seed=result.seed,
        replicates=result.replicates,
    )


def _variable(dims: str, values: np.ndarray, units: str, long_name: str) -> xr.Variable:
    return xr.Variable(dims.split(), values, {"units": units, "long_name": long_name})


def _free_run(experiments: Experiments) -> xr.Dataset:
    monthly = np.asarray(experiments.free_run.monthly)
    months = np.arange(monthly.shape[1])
    return xr.Dataset(
        {
            f"free_run_{v.name}": _variable(
                "replicate free_run_month", monthly[..., i], v.units, f"simulated {v.long_name}"
            )
            for i, v in enumerate(VARIABLES)
        },
        {
            "replicate": _variable("replicate", np.arange(len(monthly)), "1", "replicate"),
            "free_run_month": _variable(
                "free_run_month", months, "month", "months since a January, after the spin-up"
            ),
        },
    )


def _curves(climates: Sequence[Climate], observed: Climate, protocol: Protocol) -> xr.Dataset:
    variables = {}
    for name, (point, units, long_name) in _CURVES.items():
        for i, index in enumerate(INDICES):
            simulated = np.stack([climate.curves[name][:, i] for climate in climates])
            text = long_name.format(index)
            variables[f"{name}_{index}"] = _variable(
                f"replicate segment {point}", simulated, units, f"simulated {text}"
            )
            variables[f"observed_{name}_{index}"] = _variable(
                point, observed.curves[name][0, i], units, f"observed {text}"
            )
    points = {
        "anomaly": (pdf_grid(protocol), "degC", "SST anomaly"),
        "calendar_month": (np.arange(1, MONTHS_PER_YEAR + 1), "1", "calendar month, January is 1"),
        "lag": (np.arange(protocol.acf_max_lag + 1), "month", "lag"),
    }
    return xr.Dataset(variables, {name: _variable(name, *about) for name, about in points.items()})


def _events(climates: Sequence[Climate], observed: Climate) -> xr.Dataset:
    counts = np.stack(
        [np.stack([climate.counts[name] for name in EVENT_TYPES], -1) for climate in climates]
    )
    observed_counts = np.array([observed.counts[name][0] for name in EVENT_TYPES])
    points = _padded([climate.points for climate in climates])
    count = "replicate event_segment event_type"
    strength = ("degC", "peak SST anomaly along the equator of an El Nino")
    longitude = ("degrees_east", "longitude of that peak")
    return xr.Dataset(
        {
            "event_count": _variable(count, counts, "1", "simulated events in a segment"),
            "observed_event_count": _variable(
                "event_type", observed_counts, "1", "observed events"
            ),
            "event_strength": _variable("replicate event", points[..., 0], *strength),
            "event_longitude": _variable("replicate event", points[..., 1], *longitude),
            "observed_event_strength": _variable(
                "observed_event", observed.points[:, 0], *strength
            ),
            "observed_event_longitude": _variable(
                "observed_event", observed.points[:, 1], *longitude
            ),
        },
        {"event_type": _variable("event_type", np.array(EVENT_TYPES), "1", "type of event")},
    )


def _smoothing(experiments: Experiments, record: Record) -> xr.Dataset:
    dims = "replicate test time"
    variables = {}
    for i, v in enumerate(VARIABLES):
        for name, long_name in _SMOOTHING.items():
            values = np.asarray(getattr(experiments.smoothing, name))[..., i]
            text = long_name.format(v.long_name)
            variables[f"{name}_{v.name}"] = _variable(dims, values, v.units, text)
        variables[f"innovation_{v.name}"] = _variable(
            dims,
            np.asarray(experiments.smoothing.innovation)[..., i],
            "1",
            f"observed minus prior {v.long_name}, in standard deviations",
        )
        variables[f"observed_{v.name}"] = _variable(
            "time", record.development.values[:, i], v.units, f"observed {v.long_name}"
        )
    return xr.Dataset(
        variables,
        {
            "test": _variable("test", np.array(list(TESTS)), "1", "reconstruction test"),
            "time": ("time", _dates(record.development.first_month, record.development.months)),
        },
    )


def _forecasts(experiments: Experiments, record: Record) -> xr.Dataset:
    dims = "replicate start lead"
    mean, spread = (
        np.asarray(a) for a in (experiments.forecasts.mean, experiments.forecasts.spread)
    )
    starts, leads = mean.shape[1:3]
    variables = {}
    for i, v in enumerate(VARIABLES):
        variables[f"forecast_{v.name}"] = _variable(
            dims, mean[..., i], v.units, f"forecast ensemble mean of the {v.long_name}"
        )
        variables[f"forecast_spread_{v.name}"] = _variable(
            dims,
            spread[..., i],
            v.units,
            f"forecast ensemble standard deviation of the {v.long_name}",
        )
        variables[f"held_out_{v.name}"] = _variable(
            "held_out_time", record.held_out.values[:, i], v.units, f"observed {v.long_name}"
        )
    first = record.held_out.first_month
    return xr.Dataset(
        variables,
        {
            "start": ("start", _dates(first, starts)),
            "lead": _variable("lead", np.arange(1, leads + 1), "month", "lead time"),
            "held_out_time": ("held_out_time", _dates(first, record.held_out.months)),
        },
    )


def _dates(first_month: int, months: int) -> np.ndarray:
    """The first day of each month."""
    begin = np.datetime64("0000-01", "M") + first_month
    return (begin + np.arange(months)).astype("datetime64[s]")


def _padded(arrays: Sequence[np.ndarray]) -> np.ndarray:
    """Arrays of unequal length ``(event, 2)`` as one, NaN where there is no event."""
    longest = max(map(len, arrays))
    padded = np.full((len(arrays), longest, 2), np.nan)
    for row, array in zip(padded, arrays, strict=True):
        row[: len(array)] = array
    return padded
