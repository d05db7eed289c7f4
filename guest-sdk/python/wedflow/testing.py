"""Calling transitions in tests, natively, as the server would.

::

    from wedflow import testing

    def test_a_person_is_greeted_by_name():
        answer = testing.call(greet, name="Ada")
        assert answer.values == {"greeting": "Hello, Ada!", "visits": 1}
"""

from __future__ import annotations

import dataclasses
import datetime
import random as _random
from collections.abc import Mapping

from . import host, http, values
from .transitions import Job, Transition, Wire, from_wire, perform
from .types import Kind
from .values import READ


@dataclasses.dataclass
class LogLine:
    """A line that was logged."""

    severity: str
    message: str
    fields: dict[str, str]


class Server:
    """Stands in for the server within a ``with``: a clock that moves only by ``sleep`` and
    ``advance``, repeatable random bits, settings, secrets, and the log.

    >>> with Server(secrets={"api_key": "x"}) as server:
    ...     testing.call(charge, amount=5)
    ...     assert server.logs[0].message == "charged"
    """

    def __init__(
        self,
        *,
        now: datetime.datetime = datetime.datetime(2026, 1, 1, tzinfo=datetime.timezone.utc),
        random: list[int] | None = None,
        seed: int = 0,
        config: Mapping[str, str] | None = None,
        secrets: Mapping[str, str] | None = None,
        files: Mapping[str, bytes] | None = None,
        answers: list[http.Response | http.FetchError] | None = None,
    ):
        self._clock = values.write(Kind("timestamptz"), now)[1]  # type: ignore[index]
        self._scripted = list(random or [])
        self._random = _random.Random(seed)
        self._config = dict(config or {})
        self._secrets = dict(secrets or {})
        self.files = dict(files or {})
        """The files of the instance, by name."""
        self._answers = list(answers or [])
        self.requests: list[tuple[str, str, list[tuple[str, str, str | None]], bytes]] = []
        """The requests that were sent: method, URL, headers with the names of their secrets, body."""
        self._names: list[str] = []
        self._before: list[host.Server | None] = []
        self.logs: list[LogLine] = []
        """What was logged, in order."""
        self.slept = datetime.timedelta()
        """The time that was slept, in all."""

    def __enter__(self) -> Server:
        self._before.append(host.use(self))
        return self

    def __exit__(self, *_: object) -> None:
        host.use(self._before.pop())

    def advance(self, time: float | datetime.timedelta) -> None:
        """Moves the clock, by seconds or a ``timedelta``."""
        if not isinstance(time, datetime.timedelta):
            time = datetime.timedelta(seconds=time)
        self._clock += time // datetime.timedelta(microseconds=1)

    def log(self, severity: str, message: str, fields: dict[str, str]) -> None:
        self.logs.append(LogLine(severity, message, fields))

    def now(self) -> int:
        return self._clock

    def random(self) -> int:
        return self._scripted.pop(0) if self._scripted else self._random.getrandbits(64)

    def sleep(self, microseconds: int) -> None:
        self._clock += microseconds
        self.slept += datetime.timedelta(microseconds=microseconds)

    def config(self, key: str) -> str | None:
        return self._config.get(key)

    def secret(self, name: str) -> str | None:
        return self._secrets.get(name)

    def attributes(self) -> list[str]:
        return self._names

    def file_read(self, name: str) -> bytes | None:
        return self.files.get(name)

    def file_write(self, name: str, content: bytes) -> None:
        self.files[name] = content

    def file_append(self, name: str, content: bytes) -> None:
        self.files[name] = self.files.get(name, b"") + content

    def file_remove(self, name: str) -> bool:
        return self.files.pop(name, None) is not None

    def file_all(self) -> list[tuple[str, int]]:
        return [(name, len(content)) for name, content in sorted(self.files.items())]

    def fetch(
        self, method: str, url: str, headers: list[tuple[str, str, str | None]], body: bytes
    ) -> http.Response:
        self.requests.append((method, url, headers, body))
        if not self._answers:
            raise http.FetchError("denied", f"the test has no answer to {method} {url}")
        answer = self._answers.pop(0)
        if isinstance(answer, http.FetchError):
            raise answer
        return answer

    def key(self) -> str:
        return "flow-1-trigger"


@dataclasses.dataclass
class Answer:
    """What a transition answered."""

    values: dict[str, object] | None = None
    """The new values; None where it answered something else."""
    clause: str | None = None
    """The SET clause, where it answered with SQL."""
    aborted: str | None = None
    """The reason, where it aborted."""
    after: datetime.timedelta | None = None
    """When to try again at the earliest, where it aborted and said so."""
    failed: str | None = None
    """The message, where it failed; with the traceback where that was unexpected."""
    retry: bool = False
    """Whether another attempt may succeed, where it failed."""


def call(
    made: Transition,
    state: Mapping[str, object] | None = None,
    /,
    *,
    job: Job | None = None,
    server: Server | None = None,
    **attributes: object,
) -> Answer:
    """Invokes a transition on a state, given as a dict or by name; what is not given is null.

    Values are checked against what the transition declares, and travel as they do to a component.
    """
    given = {**(state or {}), **attributes}
    kinds = made.reads if made.reads is not None else {name: Kind("any", nullable=True) for name in given}
    for name in given:
        if name not in kinds:
            raise TypeError(f"transition `{made.name}` does not read `{name}`; it reads {', '.join(kinds) or 'nothing'}")
    wires: list[Wire] = []
    for name, kind in kinds.items():
        try:
            wires.append(values.write(kind, given.get(name)))  # type: ignore[arg-type]
        except values.Mismatch as error:
            raise TypeError(f"attribute `{name}` {error}") from None
    outer = host._server if server is None else server
    current = outer if isinstance(outer, Server) else Server()
    current._names = list(kinds)
    if job is None:
        deadline = READ["timestamptz"](current.now()) + datetime.timedelta(seconds=60)
        job = Job("flow", 1, "trigger", made.name, 1, deadline)
    with current:
        tag, answer = perform(made, list(kinds), wires, from_wire, job)
    match tag:
        case "clause":
            return Answer(clause=answer)  # type: ignore[arg-type]
        case "assignments":
            names = list(made.writes or {})
            return Answer(values={names[at]: from_wire(wire) for at, wire in answer})  # type: ignore[union-attr]
        case "abort":
            reason, after = answer  # type: ignore[misc]
            return Answer(aborted=reason, after=None if after is None else datetime.timedelta(microseconds=after))
        case _:
            message, retry = answer  # type: ignore[misc]
            return Answer(failed=message, retry=retry)

