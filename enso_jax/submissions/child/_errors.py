"""What is said when a step cannot become a JAX function?"""


class CannotTrace(Exception):  # noqa: N818 - sends the step to the host engine
    """A step that has to run in NumPy, and the first thing in it that has no counterpart in JAX.

    Attributes:
        reason: in the submitter's terms.
        file, line: where in the submission, the file relative to its folder; None if nowhere in it.
    """

    def __init__(self, reason: str, file: str | None = None, line: int | None = None):
        super().__init__(reason, file, line)
        self.reason = reason
        self.file = file
        self.line = line

    def __str__(self) -> str:
        if self.file is None:
            return self.reason
        return f"{self.file}, line {self.line}: {self.reason}"


class Untraceable(BaseException):
    """The same, on its way out of the submission's code.

    Not an `Exception`: a submission's own ``except Exception`` would take it for an error of
    NumPy's and go on, on a path that NumPy itself would not have taken.
    """
