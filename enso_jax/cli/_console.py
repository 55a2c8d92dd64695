"""Where are wide tables printed?"""

import sys
from typing import Final

from rich.console import Console

_ENDLESS: Final = 10_000


def wide_console() -> Console:
    """As wide as the terminal; a file has no edge at which a table would have to be folded."""
    return Console(width=None if sys.stdout.isatty() else _ENDLESS)
