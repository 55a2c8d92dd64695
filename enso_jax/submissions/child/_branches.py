"""What becomes of ``if`` and of list indices, when they depend on a traced number?

A traced number that code branches on has few possible values: a Boolean, or a whole number such
as a month. The step is run once for each way through it, with that number taken to be known,
and the results are joined by selecting on the numbers that were asked for::

    if month in (6, 7, 8): ...      two ways
    TABLE[month]                    twelve, where TABLE is a list or a dict

Between questions nothing is random, so a way is known by the answers given, in order.
"""

import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np

from enso_jax.submissions.child._cells import Cell, Trace, arithmetic, remaining, select, settled
from enso_jax.submissions.child._errors import Untraceable

#: How many ways through a step are followed.
MOST_PATHS = 64

Answers = tuple[int, ...]


@dataclasses.dataclass(frozen=True)
class Question:
    """Which of some groups of its possible values does a number have?

    Attributes:
        root: the number.
        groups: positions in the table of `root`, each open position in one group.
    """

    root: Cell
    groups: list[np.ndarray]

    def condition(self, answer: int) -> Any:
        """Whether the number is in a group: a Boolean cell."""
        values = self.root.table[self.groups[answer]].tolist()
        condition: Any = False
        for value in values:
            condition = arithmetic(np.logical_or, condition, arithmetic(np.equal, self.root, value))
        return condition


class Paths:
    """All ways through a step, found by running it again and again.

    Attributes:
        trace: to which all numbers of the step belong.
    """

    def __init__(self, trace: Trace):
        self.trace = trace
        self._questions: dict[Answers, Question] = {}
        self._results: dict[Answers, Any] = {}
        self._waiting: list[Answers] = [()]
        self._answers: Answers = ()
        self._prefix: Answers = ()

    def follow(self, run: Callable[[], Any]) -> None:
        """Calls `run` once for each way."""
        self.trace.ask = self._ask
        while self._waiting:
            self._prefix, self._answers = self._waiting.pop(), ()
            self.trace.possible = {}
            result = run()
            self._results[self._answers] = result
        self.trace.possible = {}
        self.trace.ask = None

    def _ask(self, root: Cell, groups: list[np.ndarray]) -> int:
        so_far = self._answers
        asked = self._questions.get(so_far)
        if asked is None:
            self._questions[so_far] = Question(root, groups)
            self._waiting.extend((*so_far, answer) for answer in range(1, len(groups)))
            if len(self._waiting) + len(self._results) >= MOST_PATHS:
                raise Untraceable(
                    f"there are more than {MOST_PATHS} ways through the step, depending on the"
                    " state, the time or the noise"
                )
        elif asked.root is not root:
            raise Untraceable("the step takes another way when it is called again")
        answer = self._prefix[len(so_far)] if len(so_far) < len(self._prefix) else 0
        self._answers = (*so_far, answer)
        return answer

    def joined(self, dtype: np.dtype) -> list[Any]:
        """The result: what the way that is taken gives. Each result is a list of numbers."""
        return self._joined((), dtype)

    def _joined(self, answers: Answers, dtype: np.dtype) -> list[Any]:
        if answers in self._results:
            return self._results[answers]
        question = self._questions[answers]
        *others, last = range(len(question.groups))
        result = self._joined((*answers, last), dtype)
        for answer in reversed(others):
            condition = question.condition(answer)
            branch = self._joined((*answers, answer), dtype)
            pairs = zip(branch, result, strict=True)
            result = [select(condition, chosen, other, dtype) for chosen, other in pairs]
        return result


def value_of(number: Any) -> Any:
    """The value of a cell or constant, as a Python number; where not known, by asking for it.

    Raises:
        Untraceable: if it could be any number.
    """
    cell = settled(number)
    if not isinstance(cell, Cell):
        return cell
    if cell.root is None:
        raise Untraceable(
            "a number that depends on the state, the time or the noise is used where Python needs"
            " to know it (as an index, a length, a key, or by a function outside NumPy)"
        )
    open_positions = remaining(cell)
    values = cell.table[open_positions]
    groups = [open_positions[values == value] for value in dict.fromkeys(values.tolist())]
    if cell.trace.ask is None:
        raise Untraceable("a value of one call of step is used outside it")
    answer = cell.trace.ask(cell.root, groups)
    cell.trace.possible[cell.root] = groups[answer]
    return cell.table[groups[answer][0]].item()
