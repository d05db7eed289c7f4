"""What a transition may ask of the server: time, random bits, waiting, settings, secrets."""

from __future__ import annotations

import datetime
from typing import TYPE_CHECKING, Protocol

from .values import READ

if TYPE_CHECKING:
    from .http import Response


class Server(Protocol):
    """What stands behind these functions: the server, or :class:`wedflow.testing.Server`."""

    def log(self, severity: str, message: str, fields: dict[str, str]) -> None: ...
    def now(self) -> int: ...
    def random(self) -> int: ...
    def sleep(self, microseconds: int) -> None: ...
    def config(self, key: str) -> str | None: ...
    def secret(self, name: str) -> str | None: ...
    def attributes(self) -> list[str]: ...
    def file_read(self, name: str) -> bytes | None: ...
    def file_write(self, name: str, content: bytes) -> None: ...
    def file_append(self, name: str, content: bytes) -> None: ...
    def file_remove(self, name: str) -> bool: ...
    def file_all(self) -> list[tuple[str, int]]: ...
    def fetch(self, method: str, url: str, headers: list[tuple[str, str, str | None]], body: bytes) -> Response: ...
    def key(self) -> str: ...


_server: Server | None = None


def server() -> Server:
    """The server that is asked now."""
    if _server is None:
        raise RuntimeError(
            "there is no server to ask: in a test, work within `with wedflow.testing.Server():`, "
            "and do not ask it while the module is imported"
        )
    return _server


def use(server: Server | None) -> Server | None:
    """Sets the server that is asked; answers the one before."""
    global _server
    before, _server = _server, server
    return before


def now() -> datetime.datetime:
    """The server's time, in UTC."""
    return READ["timestamptz"](server().now())


def random() -> int:
    """64 random bits: 0 to 2**64 - 1."""
    return server().random()


def random_below(bound: int) -> int:
    """A random whole number from 0 to ``bound`` - 1, each as likely."""
    if not 0 < bound <= 1 << 64:
        raise ValueError(f"a bound of 1 to 2**64 is needed, not {bound}")
    # What lies beyond the last full round would favour the small ones.
    limit = (1 << 64) - (1 << 64) % bound
    while (drawn := random()) >= limit:
        pass
    return drawn % bound


def sleep(time: float | datetime.timedelta) -> None:
    """Waits, for seconds or a ``timedelta``. The time counts against the timeout."""
    if not isinstance(time, datetime.timedelta):
        time = datetime.timedelta(seconds=time)
    server().sleep(max(0, time // datetime.timedelta(microseconds=1)))


def config(key: str) -> str | None:
    """A setting of the flow; None when it has not been set."""
    return server().config(key)


def secret(name: str) -> str | None:
    """A secret of the flow; None when there is none or it is not granted to this transition. Never
    write it into the state, a log line or a message."""
    return server().secret(name)
