"""What is raised when a record of the ocean cannot be used?"""


class ObservationError(Exception):
    """A record is absent, incomplete or unsound.

    The message is one sentence for the person at the terminal: what is wrong,
    where (file, line, column), and what to do.
    """
