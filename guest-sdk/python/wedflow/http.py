"""HTTP to hosts that the operator and the flow both name. A request happens at least once, not exactly once:
send ``key()`` along where the other side can tell repetitions by it."""

from __future__ import annotations

import dataclasses
import json as _json
from collections.abc import Mapping

from .host import server
from .outcome import Fail


class FetchError(Fail):
    """Why there is no answer. ``kind`` is ``denied``, ``invalid``, ``too-large``, ``unreachable`` or
    ``timed-out``."""

    def __init__(self, kind: str, message: str):
        super().__init__(message)
        self.kind = kind
        self.retry = kind in ("unreachable", "timed-out")


@dataclasses.dataclass(frozen=True)
class Secret:
    """A header's value that ends with a secret of the flow, which the server puts there: the transition need
    not know it."""

    name: str
    before: str = ""
    """What stands before it, such as ``Bearer`` and a space."""


@dataclasses.dataclass(frozen=True)
class Response:
    """An answer, whatever its status."""

    status: int
    headers: list[tuple[str, str]]
    """Names in small letters, and values."""
    body: bytes

    def header(self, name: str) -> str | None:
        """A header's value, by its name in small letters."""
        return next((value for known, value in self.headers if known == name), None)

    @property
    def text(self) -> str:
        """The body as text."""
        return self.body.decode(errors="replace")

    def json(self) -> object:
        """The body as JSON."""
        return _json.loads(self.body)


def fetch(
    url: str,
    *,
    method: str = "GET",
    headers: Mapping[str, str | Secret] | None = None,
    body: bytes | str = b"",
) -> Response:
    """Sends a request and waits for the answer; the time counts against the timeout."""
    given = [
        (name, value.before, value.name) if isinstance(value, Secret) else (name, value, None)
        for name, value in (headers or {}).items()
    ]
    return server().fetch(method, url, given, body.encode() if isinstance(body, str) else bytes(body))


def key() -> str:
    """Names what fired this transition: the same in every attempt at it, another in every other firing."""
    return server().key()
