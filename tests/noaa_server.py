"""A server that stands in for NOAA: files in parts (OPeNDAP, by pydap) and whole (HTTP, ranges).

It can misbehave: drop connections, answer with an error page, lack a file, ignore ranges.
"""

import contextlib
import dataclasses
import threading
import warnings
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import netCDF4
import numpy as np

from enso_jax.observations.fetch import Server

with warnings.catch_warnings():
    # Of a module of the standard library that webob uses.
    warnings.simplefilter("ignore")
    from pydap.handlers.lib import BaseHandler
    from pydap.model import BaseType, DatasetType, GridType
    from webob import Request

ERROR_PAGE = b"<!DOCTYPE html><html><title>503 Service Unavailable</title></html>"


@dataclasses.dataclass
class StandIn:
    """What is served, and how badly.

    Attributes:
        address: of the server.
        files: content by path.
        missing: paths that are answered with 404.
        pages: paths that are answered with an error page, as if all were well.
        drops: for each path how many more times a connection breaks off, and after how many bytes.
        ranges: whether ranges are understood.
        requests: every method, path and Range so far.
    """

    address: str
    files: dict[str, bytes]
    datasets: dict[str, BaseHandler]
    missing: set[str] = dataclasses.field(default_factory=set)
    pages: set[str] = dataclasses.field(default_factory=set)
    drops: dict[str, tuple[int, int]] = dataclasses.field(default_factory=dict)
    ranges: bool = True
    requests: list[tuple[str, str, str | None]] = dataclasses.field(default_factory=list)

    @property
    def server(self) -> Server:
        return Server(f"{self.address}/dodsC", f"{self.address}/files", f"{self.address}/files")


@contextlib.contextmanager
def serving(files: dict[str, Path]) -> Iterator[StandIn]:
    """Serves `files`, by the path below the server's address."""
    datasets = {
        path: BaseHandler(_dataset(file)) for path, file in files.items() if file.suffix == ".nc"
    }
    contents = {path: file.read_bytes() for path, file in files.items()}
    http = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    stand_in = StandIn(f"http://127.0.0.1:{http.server_port}", contents, datasets)
    http.stand_in = stand_in  # pyright: ignore[reportAttributeAccessIssue]
    thread = threading.Thread(target=http.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield stand_in
    finally:
        http.shutdown()
        thread.join()
        http.server_close()


def _dataset(file: Path) -> DatasetType:
    """In memory: the server's thread must not use the NetCDF library while a test does."""
    served = DatasetType(file.stem)
    with netCDF4.Dataset(file) as dataset:
        dataset.set_auto_maskandscale(False)
        for name, variable in dataset.variables.items():
            attributes = {key: variable.getncattr(key) for key in variable.ncattrs()}
            values = np.asarray(variable[:])
            if variable.ndim == 1:
                served[name] = BaseType(name, values, dimensions=variable.dimensions, **attributes)
                continue
            grid = GridType(name, **attributes)
            grid[name] = BaseType(name, values, dimensions=variable.dimensions, **attributes)
            for dimension in variable.dimensions:
                axis = dataset.variables[dimension]
                grid[dimension] = BaseType(dimension, np.asarray(axis[:]), dimensions=(dimension,))
            served[name] = grid
    return served


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, format: str, *args: object) -> None:
        """Nothing."""

    @property
    def stand_in(self) -> StandIn:
        return self.server.stand_in  # pyright: ignore[reportAttributeAccessIssue]

    def do_HEAD(self) -> None:
        self._answer()

    def do_GET(self) -> None:
        self._answer()

    def _answer(self) -> None:
        path = self.path.split("?")[0]
        self.stand_in.requests.append((self.command, path, self.headers.get("Range")))
        base, _, below = path.removeprefix("/").partition("/")
        name = below if base == "files" else below.rsplit(".", 1)[0]
        if name in self.stand_in.missing or name not in self.stand_in.files:
            self._send(404, b"no such file", {})
        elif name in self.stand_in.pages:
            self._send(200, ERROR_PAGE, {"Content-Type": "text/html"})
        elif base == "dodsC":
            self._send_part(name, below)
        else:
            self._send_file(name)

    def _send_part(self, name: str, below: str) -> None:
        query = self.path.partition("?")[2]
        request = Request.blank(f"/{below}", environ={"QUERY_STRING": query})
        response = request.get_response(self.stand_in.datasets[name])
        headers = {key: value for key, value in response.headers.items() if key != "Content-Length"}
        self._send(response.status_code, self._dropped(name, response.body), headers, response.body)

    def _send_file(self, name: str) -> None:
        content = self.stand_in.files[name]
        headers = {"ETag": f'"{hash(content)}"'}
        asked = self.headers.get("Range")
        if asked and self.stand_in.ranges:
            start = int(asked.removeprefix("bytes=").rstrip("-"))
            rest = content[start:]
            headers["Content-Range"] = f"bytes {start}-{len(content) - 1}/{len(content)}"
            self._send(206, self._dropped(name, rest), headers, rest)
        else:
            self._send(200, self._dropped(name, content), headers, content)

    def _dropped(self, name: str, content: bytes) -> bytes:
        """What of an answer is sent before the connection breaks off."""
        if self.command == "HEAD" or self.path.endswith((".dds", ".das")):
            return content
        times, after = self.stand_in.drops.get(name, (0, 0))
        if times == 0:
            return content
        self.stand_in.drops[name] = (times - 1, after)
        return content[:after]

    def _send(
        self, status: int, sent: bytes, headers: dict[str, str], whole: bytes | None = None
    ) -> None:
        whole = sent if whole is None else whole
        self.send_response(status)
        for key, value in headers.items():
            self.send_header(key, value)
        self.send_header("Content-Length", str(len(whole)))
        self.end_headers()
        if self.command == "GET":
            with contextlib.suppress(ConnectionError):
                self.wfile.write(sent)
        if len(sent) < len(whole):
            self.close_connection = True
