"""How do the grader and the child speak? In frames of JSON and raw arrays.

::

    8 bytes    length of the header, big-endian
    header     JSON object; "arrays" lists the dtype and shape of what follows
    arrays     their bytes, one after the other, C order, little-endian

No pickle: a frame can only ever be numbers and text. Both sides check every size before
they take it in. Only NumPy is imported, since this is read inside the sandbox too.
"""

import json
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import numpy as np

_HEADER_LIMIT: Final = 2**20
_ARRAYS_LIMIT: Final = 2**28
_LENGTH_BYTES: Final = 8
_DTYPES: Final = ("<f4", "<f8", "<i8", "|b1", "|u1")


class BadFrame(Exception):  # noqa: N818 - not an error of the grader
    """What was received is not a frame."""


def encode(header: Mapping[str, Any], arrays: Sequence[np.ndarray] = ()) -> bytes:
    """One frame."""
    arrays = [np.ascontiguousarray(array) for array in arrays]
    listed = [{"dtype": array.dtype.str, "shape": list(array.shape)} for array in arrays]
    text = json.dumps({**header, "arrays": listed}, allow_nan=False).encode()
    return b"".join(
        (len(text).to_bytes(_LENGTH_BYTES, "big"), text, *(array.tobytes() for array in arrays))
    )


def decode(read: Callable[[int], bytes]) -> tuple[dict[str, Any], list[np.ndarray]]:
    """The header and the arrays of the next frame that `read` gives, n bytes at a time.

    Raises:
        BadFrame: if it is none, or larger than allowed.
    """
    length = int.from_bytes(read(_LENGTH_BYTES), "big")
    if length > _HEADER_LIMIT:
        raise BadFrame(f"a header of {length} bytes")
    try:
        header = json.loads(read(length))
        listed = [(str(a["dtype"]), tuple(map(int, a["shape"]))) for a in header.pop("arrays")]
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise BadFrame(f"a header that is not one: {error}") from error
    sizes = [_size(dtype, shape) for dtype, shape in listed]
    if sum(sizes) > _ARRAYS_LIMIT:
        raise BadFrame(f"arrays of {sum(sizes)} bytes")
    arrays = [
        np.frombuffer(read(size), dtype=dtype).reshape(shape)
        for size, (dtype, shape) in zip(sizes, listed, strict=True)
    ]
    return header, arrays


def _size(dtype: str, shape: tuple[int, ...]) -> int:
    if dtype not in _DTYPES or any(length < 0 for length in shape) or len(shape) > 8:
        raise BadFrame(f"an array of {dtype} {shape}")
    return np.dtype(dtype).itemsize * math.prod(shape)
