"""What a transition answers besides new values: aborting, failing, and SQL expressions."""

from __future__ import annotations

from datetime import timedelta
from string import Formatter

from .values import literal

# Python's own reader of texts with places in braces: doubled braces, and where a single one stands.
_pieces = Formatter().parse


class Abort(Exception):
    """Raise it to commit nothing and be tried again later.

    ``after`` says when at the earliest, in seconds or as a ``timedelta``; without it the trigger's
    backoff does.
    """

    def __init__(self, reason: str, after: float | timedelta | None = None):
        super().__init__(reason)
        self.reason = str(reason)
        if after is not None and not isinstance(after, timedelta):
            after = timedelta(seconds=after)
        if after is not None and after < timedelta(0):
            raise ValueError("`after` must not be negative")
        self.after = after

    def microseconds(self) -> int | None:
        """``after`` in microseconds."""
        return None if self.after is None else self.after // timedelta(microseconds=1)


class Fail(Exception):
    """Raise it when no further attempt can help: the instance becomes an exception at once."""

    retry = False

    def __init__(self, message: str):
        super().__init__(message)
        self.message = str(message)


class Retry(Fail):
    """Raise it when it failed and another attempt may succeed."""

    retry = True


def _single(brace: str, text: str) -> ValueError:
    return ValueError(f"a single `{brace}` in the SQL {text!r}; double it, or name a value")


class sql:  # noqa: N801  (it reads as a function)
    """A SQL expression, evaluated on the state as it is when the transition commits.

    What stands in braces is given by name and written as a literal of its type, never as SQL::

        {"n": sql("n + {step}", step=2)}

    Returned alone it is the whole SET clause: ``return sql("a2 = {name}, n = n + 1", name=name)``.
    Braces themselves are doubled.
    """

    __slots__ = ("text",)

    def __init__(self, text: str, /, **values: object):
        parts: list[str] = []
        used: set[str] = set()
        try:
            pieces = list(_pieces(text))
        except ValueError as error:
            raise _single("}" if str(error).startswith("Single '}'") else "{", text) from None
        for before, name, wanted, conversion in pieces:
            parts.append(before)
            if name is None:
                continue
            if wanted or conversion or not name.isidentifier():
                raise _single("{", text)
            if name not in values:
                raise ValueError(f"the SQL {text!r} names {name!r}, which was not given")
            used.add(name)
            parts.append(literal(values[name]))
        if len(used) < len(values):
            raise ValueError(f"the SQL {text!r} has no place for {', '.join(sorted(set(values) - used))}")
        self.text = "".join(parts)

    def __repr__(self) -> str:
        return f"sql({self.text!r})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, sql) and self.text == other.text

    __hash__ = None  # type: ignore[assignment]
