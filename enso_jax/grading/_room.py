"""How many compiled programs does a process keep?

As long as there is room for their pieces. A structure's programs take more than a thousand
memory mappings, and Linux ends a process that asks for more than it allows (65,530), so
some forty structures in one process would be its last.
"""

from pathlib import Path
from typing import Final

import jax

_OWN_MAPPINGS: Final = Path("/proc/self/maps")
_MOST_MAPPINGS: Final = Path("/proc/sys/vm/max_map_count")
#: Beyond this share of what is allowed the programs go: one grade must find room for its own.
_SHARE: Final = 0.25


def make_room_for_programs() -> bool:
    """Drops all compiled programs of this process if they fill it, and says whether they did.

    What is needed again comes from JAX's cache in the user's cache folder. Programs that are
    running go on. Where the kernel does not count mappings there is nothing to do.
    """
    try:
        most = int(_MOST_MAPPINGS.read_text())
        with _OWN_MAPPINGS.open("rb") as lines:
            mappings = sum(1 for _ in lines)
    except OSError:
        return False
    if mappings < _SHARE * most:
        return False
    jax.clear_caches()
    return True
