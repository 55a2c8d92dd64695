"""What do someone's indices say, in CSV or NetCDF?

CSV: a column of months, ``YYYY-MM`` or a date in that month, called month, time or date, and
a column for each of T_C, T_E, h_W, u, tau; other columns are not looked at. NetCDF: a time
coordinate and five variables of these names. An empty cell, or one that says nan, is a
missing value: no fault of the file, but of the index.
"""

import csv
import dataclasses
import io
import re
from pathlib import Path
from typing import Final

import numpy as np

from enso_jax.observations._errors import ObservationError
from enso_jax.observations.fields import decoded, months_of, open_netcdf
from enso_jax.state import NAMES, month_label, parse_month

_MONTH_COLUMNS: Final = ("month", "time", "date")
_DATE: Final = re.compile(r"(\d{4}-\d{2})(-\d{2}([T ].*)?)?")


@dataclasses.dataclass(frozen=True, eq=False)
class Candidate:
    """Indices to be checked.

    Attributes:
        months: (months,) integer dates, increasing, each once; there may be gaps.
        values: (months, 5) in the order of `state.NAMES`; NaN where missing.
    """

    months: np.ndarray
    values: np.ndarray


def read_candidate(path: Path) -> Candidate:
    """The indices in a file.

    Raises:
        ObservationError: if the file cannot be read, lacks an index or has a month twice.
    """
    path = Path(path)
    months, values = _read_netcdf(path) if path.suffix == ".nc" else _read_csv(path)
    order = np.argsort(months, kind="stable")
    months, values = months[order], values[order]
    if (repeated := np.flatnonzero(np.diff(months) == 0)).size:
        raise ObservationError(
            f"{path}: has {month_label(int(months[repeated[0]]))} twice; keep one row a month."
        )
    return Candidate(months, values)


def _read_csv(path: Path) -> tuple[np.ndarray, np.ndarray]:
    try:
        text = path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise ObservationError(
            f"{path}: cannot be read ({error.strerror}); name a CSV or NetCDF file of the indices."
        ) from error
    except UnicodeDecodeError as error:
        raise ObservationError(
            f"{path}: not text; save the indices as CSV in UTF-8, or as NetCDF with the suffix .nc."
        ) from error
    reader = csv.DictReader(io.StringIO(text, newline=""))
    header = [name.strip() for name in reader.fieldnames or []]
    reader.fieldnames = header
    month_column = next((name for name in _MONTH_COLUMNS if name in header), None)
    missing = [name for name in NAMES if name not in header]
    if month_column is None or missing:
        lacking = [*([] if month_column else ["month"]), *missing]
        raise ObservationError(
            f"{path}: has no column {', '.join(lacking)}; the header must be "
            f"month,{','.join(NAMES)}, in any order."
        )
    rows = list(reader)
    if not rows:
        raise ObservationError(f"{path}: has no rows; give one for each month.")
    months = [_month(path, row[month_column] or "", line) for line, row in enumerate(rows, 2)]
    values = [
        [_number(path, row[name], line, name) for name in NAMES] for line, row in enumerate(rows, 2)
    ]
    return np.array(months), np.array(values)


def _month(path: Path, cell: str, line: int) -> int:
    match = _DATE.fullmatch(cell.strip())
    try:
        return parse_month(match[1] if match else cell)
    except ValueError as error:
        raise ObservationError(f"{path}, line {line}: {error}; write it so.") from error


def _number(path: Path, cell: str | None, line: int, name: str) -> float:
    text = (cell or "").strip()
    if text.lower() in ("", "nan", "na", "null", "none"):
        return np.nan
    try:
        return float(text)
    except ValueError:
        raise ObservationError(
            f"{path}, line {line}, column {name}: {text!r} is not a number; write one, or nothing "
            "if it is missing."
        ) from None


def _read_netcdf(path: Path) -> tuple[np.ndarray, np.ndarray]:
    with open_netcdf(path) as dataset:
        missing = [name for name in ("time", *NAMES) if name not in dataset.variables]
        if missing:
            raise ObservationError(
                f"{path}: has no variable {', '.join(missing)}; give time and "
                f"{', '.join(NAMES)}, one value a month."
            )
        months = months_of(path, dataset.variables["time"]).months
        columns = []
        for name in NAMES:
            variable = dataset.variables[name]
            column = decoded(variable, np.asarray(variable[:])).ravel()
            if column.size != months.size:
                raise ObservationError(
                    f"{path}: {name} has {column.size} values and time {months.size}; give one "
                    "value a month."
                )
            columns.append(column)
    return months, np.column_stack(columns)
