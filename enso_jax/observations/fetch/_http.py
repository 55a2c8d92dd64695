"""How does a file come over HTTP, and go on where it was interrupted?

What has come so far lies in a hidden ``.part`` file whose name holds the server's validator
(ETag, else date and length), so that parts of two versions of a file are never joined. The
next attempt asks for the rest (Range); a server that does not know ranges sends all again.
"""

import hashlib
import http.client
import socket
import urllib.error
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from enso_jax.files import OutputError, sync
from enso_jax.observations.fetch._errors import FetchError

_TIMEOUT_S: Final = 60.0
_CHUNK: Final = 1 << 18
_NOTHING: Final = {404: "is not there", 410: "is not there any more"}

#: What is raised where a connection fails; an OSError while writing is none of these.
_CONNECTION_ERRORS: Final = (urllib.error.URLError, http.client.HTTPException, OSError)


def download(address: str, target: Path, on_bytes: Callable[[int], None] = lambda n: None) -> None:
    """Brings the file at `address` to `target`, whole; what came before is not asked for again.

    Args:
        address: http or https.
        target: appears once the file is whole.
        on_bytes: called with the number of bytes that have come since its last call.

    Raises:
        FetchError: if there is no connection or no such file, or the connection breaks off.
        OutputError: if it cannot be written.
    """
    length, validator = _head(address)
    part = target.with_name(f".{target.name}.{validator}.part")
    _drop_other_parts(target, part)
    have = part.stat().st_size if part.exists() else 0
    if length is None or have != length:
        have = _bring_rest(address, part, have, on_bytes)
    if length is not None and have != length:
        if have > length:
            part.unlink()
        raise FetchError(
            f"{address}: {have} of {length} bytes have come and then the connection broke off; "
            "run the command again to go on from there.",
            passing=True,
        )
    try:
        sync(part)
        part.replace(target)
    except OSError as error:
        raise _full(target, error) from error


def size_of(address: str) -> int | None:
    """How many bytes a file has, None if the server does not tell."""
    return _head(address)[0]


def start_of(address: str, count: int = 512) -> bytes:
    """The first bytes of what is at an address."""
    with _open(urllib.request.Request(address)) as response:
        try:
            return response.read(count)
        except _CONNECTION_ERRORS as error:
            raise _unreachable(address, error) from error


def _head(address: str) -> tuple[int | None, str]:
    """A file's length, and what tells this version of it from another."""
    with _open(urllib.request.Request(address, method="HEAD")) as response:
        headers = response.headers
    length = headers.get("Content-Length")
    version = [headers.get("ETag"), headers.get("Last-Modified"), length]
    digest = hashlib.sha256("\n".join(map(str, version)).encode()).hexdigest()
    return int(length) if length else None, digest[:12]


def _bring_rest(address: str, part: Path, have: int, on_bytes: Callable[[int], None]) -> int:
    """Appends what is missing to `part`; gives its size, complete or not."""
    request = urllib.request.Request(address)
    if have:
        request.add_header("Range", f"bytes={have}-")
    with _open(request) as response:
        resumed = response.status == http.client.PARTIAL_CONTENT
        if have and not resumed:
            have = 0
        try:
            file = part.open("ab" if resumed else "wb")
        except OSError as error:
            raise _full(part, error) from error
        with file:
            while chunk := _read(response):
                try:
                    file.write(chunk)
                    file.flush()
                except OSError as error:
                    raise _full(part, error) from error
                have += len(chunk)
                on_bytes(len(chunk))
    return have


def _read(response: http.client.HTTPResponse) -> bytes:
    """The next bytes; nothing once the connection has ended, as it should or not."""
    try:
        return response.read1(_CHUNK)
    except _CONNECTION_ERRORS:
        return b""


def _open(request: urllib.request.Request) -> http.client.HTTPResponse:
    address = request.full_url
    try:
        return urllib.request.urlopen(request, timeout=_TIMEOUT_S)
    except urllib.error.HTTPError as error:
        error.close()
        what = _NOTHING.get(error.code, "cannot be had")
        raise FetchError(
            f"{address} {what} (the server answers {error.code} {error.reason}); "
            "try later, or leave out its year with --last-year.",
            passing=error.code >= http.client.INTERNAL_SERVER_ERROR,
        ) from error
    except _CONNECTION_ERRORS as error:
        raise _unreachable(address, error) from error


def _unreachable(address: str, error: Exception) -> FetchError:
    reason = getattr(error, "reason", error)
    return FetchError(
        f"{urlsplit(address).netloc} cannot be reached ({reason}); connect to the network and run "
        "the command again, or build from files that you have with "
        "`enso-jax observations build RAW --out DIR`.",
        # Where not even the name is known there is no network, and waiting brings none.
        passing=not isinstance(reason, socket.gaierror),
    )


def _drop_other_parts(target: Path, part: Path) -> None:
    for other in target.parent.glob(f".{target.name}.*.part"):
        if other != part:
            other.unlink()


def _full(path: Path, error: OSError) -> OutputError:
    return OutputError(
        f"{path} cannot be written ({error.strerror or error}): see to the free space and the "
        "permissions there, or choose another folder with --out; what has come is kept."
    )
