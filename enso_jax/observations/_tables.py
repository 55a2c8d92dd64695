"""What does a text file of a record say, and where is it at fault?

Every fault is an `ObservationError` that names the file, the line and the column.
"""

import csv
import dataclasses
import hashlib
import io
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np

from enso_jax.observations._errors import ObservationError

REBUILD: Final = "build the record again or restore it from where it came"

#: Narrower than `float`, which also takes "nan", "inf", "1_000" and blanks.
_NUMBER: Final = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")


@dataclasses.dataclass(frozen=True)
class File:
    """The bytes of a file, and the path by which a sentence about them names it."""

    path: Path
    content: bytes

    def fault(
        self, problem: str, line: int | None = None, column: str | None = None
    ) -> ObservationError:
        place = str(self.path)
        if line is not None:
            place += f", line {line}"
        if column is not None:
            place += f", column {column}"
        return ObservationError(f"{place}: {problem}.")

    def sha256(self) -> str:
        return hashlib.sha256(self.content).hexdigest()

    def text(self) -> str:
        try:
            return self.content.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            line = 1 + self.content.count(b"\n", 0, error.start)
            raise self.fault("not UTF-8 text; save the file as UTF-8", line) from error

    def json_object(self, keys: Iterable[str]) -> dict[str, Any]:
        """The JSON object that the file holds, which has at least `keys`."""
        try:
            found = json.loads(self.text())
        except (ValueError, RecursionError) as error:
            raise self.fault(f"not JSON ({error}); {REBUILD}") from error
        return self.checked_object(found, keys, "the file")

    def checked_object(self, found: Any, keys: Iterable[str], what: str) -> dict[str, Any]:
        """`found`, if it is a JSON object with at least `keys`; `what` names it in a fault."""
        if not isinstance(found, dict):
            raise self.fault(f"{what} is not a JSON object; {REBUILD}")
        for key in keys:
            if key not in found:
                raise self.fault(f"{what} has no key {key!r}; add it")
        return found


@dataclasses.dataclass(frozen=True)
class Table:
    """A CSV file as text: its cells by column, and the line on which each row stands."""

    file: File
    lines: Sequence[int]
    cells: Mapping[str, Sequence[str]]

    def fault(self, problem: str, row: int, column: str) -> ObservationError:
        return self.file.fault(problem, self.lines[row], column)

    def numbers(self, column: str, *, complete: bool = True) -> np.ndarray:
        """(rows,) float64; an empty cell is a fault if `complete`, else NaN."""
        rows = range(len(self.lines))
        return np.array([self._number(row, column, complete=complete) for row in rows])

    def _number(self, row: int, column: str, *, complete: bool) -> float:
        cell = self.cells[column][row]
        if not cell:
            if complete:
                raise self.fault("the cell is empty; no value may be missing here", row, column)
            return np.nan
        # A number such as 1e999 is well written and yet becomes infinite.
        if _NUMBER.fullmatch(cell) is None or not np.isfinite(float(cell)):
            remedy = "write a number" if complete else "write a number, or nothing if it is missing"
            raise self.fault(f"{cell!r} is not a finite number; {remedy}", row, column)
        return float(cell)


def parse_table(file: File, needed: Sequence[str], optional: Sequence[str] = ()) -> Table:
    """The table in a CSV file: all of the columns `needed`, perhaps the `optional`, no others."""
    (header_line, header), *rows = _parse_csv(file)
    for column in header:
        if header.count(column) > 1:
            raise file.fault("the column stands here twice; keep one", header_line, column)
        if column not in (*needed, *optional):
            known = ", ".join(needed)
            raise file.fault(
                f"unknown column; remove it (the file has {known})", header_line, repr(column)
            )
    for column in needed:
        if column not in header:
            raise file.fault("the column is missing; add it", header_line, column)
    for line, cells in rows:
        if len(cells) != len(header):
            raise file.fault(
                f"the row has {len(cells)} cells and the header {len(header)}; complete the row",
                line,
            )
    columns = zip(*(cells for _, cells in rows), strict=True)
    return Table(file, [line for line, _ in rows], dict(zip(header, columns, strict=True)))


def _parse_csv(file: File) -> list[tuple[int, list[str]]]:
    """The line number and the cells of the header and of one or more rows below it."""
    reader = csv.reader(io.StringIO(file.text(), newline=""), strict=True)
    try:
        rows = [(reader.line_num, cells) for cells in reader]
    except csv.Error as error:
        raise file.fault(f"not CSV ({error}); mend the line", reader.line_num) from error
    if len(rows) < 2:
        raise file.fault(f"the file has no rows of data; {REBUILD}")
    return rows
