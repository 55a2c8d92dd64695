"""What is raised when something cannot be fetched?"""

from enso_jax.observations._errors import ObservationError


class FetchError(ObservationError):
    """A file did not come, or not whole.

    Attributes:
        passing: whether trying again may help.
    """

    def __init__(self, sentence: str, *, passing: bool = False) -> None:
        super().__init__(sentence)
        self.passing = passing
