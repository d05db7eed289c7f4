"""Values: from and to what travels, which is a pair of tag and raw value, and as SQL literals."""

from __future__ import annotations

import datetime
import decimal
import json
import math
import re
import uuid
from dataclasses import dataclass
from functools import total_ordering
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .types import Kind

_EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc)
_EPOCH_DAY = datetime.date(1970, 1, 1).toordinal()
_MICROSECOND = datetime.timedelta(microseconds=1)
_I32 = 2**31
_I64 = 2**63


class Mismatch(Exception):
    """A value that does not fit its attribute's type."""


@total_ordering
class _Infinity:
    """A date or timestamp before or after all others."""

    __slots__ = ("_sign",)

    def __init__(self, sign: int):
        self._sign = sign

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Infinity) and self._sign == other._sign

    def __lt__(self, other: object) -> bool:
        if isinstance(other, _Infinity):
            return self._sign < other._sign
        if isinstance(other, datetime.date):
            return self._sign < 0
        return NotImplemented

    def __hash__(self) -> int:
        return hash(("infinity", self._sign))

    def __str__(self) -> str:
        return "infinity" if self._sign > 0 else "-infinity"

    def __repr__(self) -> str:
        return "INFINITY" if self._sign > 0 else "NEGATIVE_INFINITY"


INFINITY = _Infinity(1)
"""The date and the timestamp ``infinity``: after all others."""
NEGATIVE_INFINITY = _Infinity(-1)
"""The date and the timestamp ``-infinity``: before all others."""


@dataclass(frozen=True)
class Interval:
    """An interval as Postgres has it: months, days and microseconds count apart."""

    months: int = 0
    days: int = 0
    microseconds: int = 0

    _TEXT = re.compile(
        r"P(?:([-+]?\d+)Y)?(?:([-+]?\d+)M)?(?:([-+]?\d+)W)?(?:([-+]?\d+)D)?"
        r"(?:T(?:([-+]?\d+)H)?(?:([-+]?\d+)M)?(?:([-+]?)(\d+)(?:\.(\d{1,6}))?S)?)?"
    )

    @classmethod
    def parse(cls, text: str) -> Interval:
        """Reads ISO 8601, as in ``P1Y2M3DT4H5M6.789S``."""
        match = cls._TEXT.fullmatch(text)
        if match is None or text[-1] in "PT":
            raise ValueError(f"{text!r} is no ISO 8601 interval")
        years, months, weeks, days, hours, minutes, sign, whole, fraction = match.groups(default="")
        number = lambda digits: int(digits or 0)  # noqa: E731
        seconds = number(whole) * 1_000_000 + number(fraction.ljust(6, "0") if fraction else "")
        return cls(
            number(years) * 12 + number(months),
            number(weeks) * 7 + number(days),
            (number(hours) * 3600 + number(minutes) * 60) * 1_000_000
            + (-seconds if sign == "-" else seconds),
        )

    @classmethod
    def of(cls, delta: datetime.timedelta) -> Interval:
        """The interval of days and microseconds that a ``timedelta`` is."""
        return cls(0, delta.days, delta.seconds * 1_000_000 + delta.microseconds)

    def timedelta(self) -> datetime.timedelta:
        """As a ``timedelta``, which has no months: raises ``ValueError`` where there are any."""
        if self.months:
            raise ValueError(f"{self} has months, which are not of one length")
        return datetime.timedelta(days=self.days, microseconds=self.microseconds)

    def __str__(self) -> str:
        years, months = _split(self.months, 12)
        minutes, micros = _split(self.microseconds, 60_000_000)
        hours, minutes = _split(minutes, 60)
        date = "".join(f"{n}{unit}" for n, unit in ((years, "Y"), (months, "M"), (self.days, "D")) if n)
        time = "".join(f"{n}{unit}" for n, unit in ((hours, "H"), (minutes, "M")) if n)
        if micros:
            whole, fraction = divmod(abs(micros), 1_000_000)
            digits = f".{fraction:06}".rstrip("0") if fraction else ""
            time += f"{'-' if micros < 0 else ''}{whole}{digits}S"
        if not date and not time:
            return "PT0S"
        return f"P{date}{'T' if time else ''}{time}"


def _split(number: int, by: int) -> tuple[int, int]:
    """Divides towards zero, so that both parts have the number's sign."""
    whole, rest = divmod(abs(number), by)
    return (-whole, -rest) if number < 0 else (whole, rest)


# ---- JSON -----------------------------------------------------------------------------------------


def parse_json(text: str) -> object:
    """Reads JSON; numbers with a point become ``Decimal``, so that nothing is rounded."""
    return json.loads(text, parse_float=decimal.Decimal)


def format_json(value: object) -> str:
    """Writes JSON; ``Decimal`` as a number, to the digit."""
    try:
        return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    except TypeError:
        # The library's encoder knows no Decimal.
        return "".join(_json(value))


def _json(value: object):
    if isinstance(value, decimal.Decimal):
        if not value.is_finite():
            raise ValueError(f"{value} is no JSON number")
        yield format(value, "f")
    elif isinstance(value, dict):
        for at, (key, member) in enumerate(value.items()):
            if not isinstance(key, str):
                raise TypeError(f"a key of JSON must be a str, not {key!r}")
            yield f"{',' if at else '{'}{json.dumps(key, ensure_ascii=False)}:"
            yield from _json(member)
        yield "}" if value else "{}"
    elif isinstance(value, list | tuple):
        for at, element in enumerate(value):
            yield "," if at else "["
            yield from _json(element)
        yield "]" if value else "[]"
    else:
        yield json.dumps(value, ensure_ascii=False, allow_nan=False)


# ---- What travels ---------------------------------------------------------------------------------


def _timestamp(micros: int) -> datetime.datetime | _Infinity:
    if micros == _I64 - 1:
        return INFINITY
    if micros == -_I64:
        return NEGATIVE_INFINITY
    try:
        return _EPOCH + datetime.timedelta(microseconds=micros)
    except OverflowError:
        raise Mismatch("is beyond the years 1 to 9999, which is all that Python's datetime has") from None


def _date(days: int) -> datetime.date | _Infinity:
    if days == _I32 - 1:
        return INFINITY
    if days == -_I32:
        return NEGATIVE_INFINITY
    try:
        return datetime.date.fromordinal(days + _EPOCH_DAY)
    except (OverflowError, ValueError):
        raise Mismatch("is beyond the years 1 to 9999, which is all that Python's date has") from None


READ = {
    "text": lambda raw: raw,
    "integer": lambda raw: raw,
    "bigint": lambda raw: raw,
    "numeric": decimal.Decimal,
    "float": lambda raw: raw,
    "boolean": lambda raw: raw,
    "timestamptz": _timestamp,
    "date": _date,
    "interval": Interval.parse,
    "uuid": uuid.UUID,
    "jsonb": parse_json,
}
"""From what travels to Python, by tag; null is None before it comes here."""


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 80 else text[:79] + "…"


def _whole(bits: int, name: str):
    bound = 2 ** (bits - 1)

    def write(value: object) -> int:
        if not isinstance(value, int) or isinstance(value, bool):
            raise Mismatch(f"is {name}, and {_shown(value)} is no int")
        if not -bound <= value < bound:
            raise Mismatch(f"is {name}, and {_shown(value)} does not fit into {bits} bits")
        return value

    return write


def _of(name: str, *types: type):
    def write(value: object) -> object:
        if not isinstance(value, types):
            wanted = " or ".join(one.__name__ for one in types)
            raise Mismatch(f"is {name}, and {_shown(value)} is no {wanted}")
        return value

    return write


def _write_text(value: object) -> str:
    if not isinstance(value, str):
        raise Mismatch(f"is text, and {_shown(value)} is no str")
    if "\0" in value:
        raise Mismatch(f"is text, and {_shown(value)} has the character U+0000, which Postgres does not store")
    try:
        value.encode()
    except UnicodeEncodeError:
        raise Mismatch(f"is text, and {_shown(value)} has half a surrogate pair") from None
    return value


def _write_numeric(value: object) -> str:
    if isinstance(value, bool) or not isinstance(value, decimal.Decimal | int):
        hint = "; write Decimal(…), which does not round" if isinstance(value, float) else ""
        raise Mismatch(f"is numeric, and {_shown(value)} is no Decimal or int{hint}")
    if isinstance(value, decimal.Decimal):
        if value.is_nan():
            return "NaN"
        if value.is_finite() and -20_000 < value.as_tuple().exponent < 150_000:
            return format(value, "f")
    return str(value)


def _write_float(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, float | int):
        raise Mismatch(f"is float, and {_shown(value)} is no float")
    try:
        return float(value)
    except OverflowError:
        raise Mismatch(f"is float, and {_shown(value)} is too large for one") from None


def _write_timestamp(value: object) -> int:
    if isinstance(value, _Infinity):
        return _I64 - 1 if value == INFINITY else -_I64
    if not isinstance(value, datetime.datetime):
        raise Mismatch(f"is timestamptz, and {_shown(value)} is no datetime")
    if value.tzinfo is None:
        raise Mismatch(f"is timestamptz, and {_shown(value)} has no time zone; use datetime(…, tzinfo=timezone.utc)")
    return (value - _EPOCH) // _MICROSECOND


def _write_date(value: object) -> int:
    if isinstance(value, _Infinity):
        return _I32 - 1 if value == INFINITY else -_I32
    if not isinstance(value, datetime.date) or isinstance(value, datetime.datetime):
        raise Mismatch(f"is date, and {_shown(value)} is no date")
    return value.toordinal() - _EPOCH_DAY


def _write_interval(value: object) -> str:
    if isinstance(value, datetime.timedelta):
        value = Interval.of(value)
    if not isinstance(value, Interval):
        raise Mismatch(f"is interval, and {_shown(value)} is no Interval or timedelta")
    return str(value)


def _write_uuid(value: object) -> str:
    if isinstance(value, str):
        try:
            value = uuid.UUID(value)
        except ValueError:
            raise Mismatch(f"is uuid, and {_shown(value)} is none") from None
    if not isinstance(value, uuid.UUID):
        raise Mismatch(f"is uuid, and {_shown(value)} is no UUID")
    return str(value)


def _write_json(value: object) -> str:
    try:
        return format_json(value)
    except (TypeError, ValueError, RecursionError) as error:
        raise Mismatch(f"is jsonb, and the value cannot be written as JSON: {error}") from None


_WRITE = {
    "text": _write_text,
    "integer": _whole(32, "integer"),
    "bigint": _whole(64, "bigint"),
    "numeric": _write_numeric,
    "float": _write_float,
    "boolean": _of("boolean", bool),
    "timestamptz": _write_timestamp,
    "date": _write_date,
    "interval": _write_interval,
    "uuid": _write_uuid,
    "jsonb": _write_json,
}


def scalar_tag(value: object) -> str:
    """The type of a value that was written without one."""
    match value:
        case bool():
            return "boolean"
        case int():
            return "integer" if -_I32 <= value < _I32 else "bigint" if -_I64 <= value < _I64 else "numeric"
        case str():
            return "text"
        case decimal.Decimal():
            return "numeric"
        case float():
            return "float"
        case datetime.datetime():
            return "timestamptz"
        case datetime.date():
            return "date"
        case Interval() | datetime.timedelta():
            return "interval"
        case uuid.UUID():
            return "uuid"
        case dict():
            return "jsonb"
    raise Mismatch(f"cannot hold {_shown(value)}: no attribute type is like it")


def write(kind: Kind, value: object) -> object:
    """To what travels: None, a pair of tag and raw value, or a list of these.

    Raises Mismatch, whose message goes on from the attribute's name.
    """
    if value is None:
        return None
    if kind.scalar == "any":
        if isinstance(value, list | tuple):
            tag = _common([scalar_tag(one) for one in value if one is not None])
            return [None if one is None else _tagged(tag, one) for one in value]
        return _tagged(scalar_tag(value), value)
    if kind.array:
        if not isinstance(value, list | tuple):
            raise Mismatch(f"is {kind.name}, and {_shown(value)} is no list")
        return [None if one is None else _scalar(kind, one) for one in value]
    return _scalar(kind, value)


def _scalar(kind: Kind, value: object) -> tuple[str, object]:
    if kind.scalar == "enum":
        text = _write_text(value)
        if text not in kind.labels:
            raise Mismatch(f"is {kind.name}, and {_shown(value)} is none of its labels")
        return ("text", text)
    return _tagged(kind.scalar, value)


def _tagged(tag: str, value: object) -> tuple[str, object]:
    return (tag, _WRITE[tag](value))


# ---- SQL ------------------------------------------------------------------------------------------


def literal(value: object) -> str:
    """A value as a SQL literal of the type that it looks like."""
    try:
        if type(value) is str and value.isascii() and "\0" not in value:
            return "'" + value.replace("'", "''") + "'"
        if isinstance(value, list | tuple):
            tag = _common([scalar_tag(one) for one in value if one is not None])
            return _array(tag, [None if one is None else _tagged(tag, one) for one in value])
        return "NULL" if value is None else _sql(*_tagged(scalar_tag(value), value))
    except Mismatch as error:
        raise TypeError(f"a value in SQL {error}") from None


def literal_of(kind: Kind, value: object) -> str:
    """A value as a SQL literal of an attribute's type; raises Mismatch."""
    wire = write(kind, value)
    if wire is None:
        return "NULL"
    if isinstance(wire, list):
        return _array("text" if kind.scalar == "enum" else kind.scalar, wire)
    return _sql(*wire)


def quoted(text: str) -> str:
    """A text as a SQL string."""
    return "'" + text.replace("'", "''") + "'"


def _sql(tag: str, raw: object) -> str:
    match tag:
        case "text":
            # No cast: a literal of unknown type also fits an enum.
            return quoted(raw)  # type: ignore[arg-type]
        case "integer":
            # `n -{x}` must not become a comment.
            return f"({raw})" if raw < 0 else str(raw)  # type: ignore[operator]
        case "boolean":
            return "true" if raw else "false"
        case _:
            return f"{quoted(_plain(tag, raw))}::{_CAST.get(tag, tag)}"


_CAST = {"float": "double precision"}


def _plain(tag: str, raw: object) -> str:
    """A raw value in Postgres's input notation."""
    match tag:
        case "timestamptz":
            at = _timestamp(raw)  # type: ignore[arg-type]
            return str(at) if isinstance(at, _Infinity) else at.isoformat()
        case "date":
            day = _date(raw)  # type: ignore[arg-type]
            return str(day) if isinstance(day, _Infinity) else day.isoformat()
        case "float" if math.isnan(raw):  # type: ignore[arg-type]
            return "NaN"
        case "float" if math.isinf(raw):  # type: ignore[arg-type]
            return "Infinity" if raw > 0 else "-Infinity"  # type: ignore[operator]
        case "boolean":
            return "true" if raw else "false"
        case _:
            return str(raw)


def _common(tags: list[str]) -> str:
    """The type of a list of values of these types."""
    kinds = set(tags)
    if len(kinds) > 1:
        # Whole numbers of several sizes have one type that holds them all.
        order = ("integer", "bigint", "numeric")
        if not kinds <= set(order):
            raise Mismatch(f"cannot be a list of several types: {', '.join(sorted(kinds))}")
        return max(kinds, key=order.index)
    return kinds.pop() if kinds else ""


def _array(tag: str, wire: list) -> str:
    texts = []
    for one in wire:
        if one is None:
            texts.append("NULL")
        else:
            plain = _plain(*one)
            texts.append('"' + plain.replace("\\", "\\\\").replace('"', '\\"') + '"')
    cast = f"::{_CAST.get(tag, tag)}[]" if tag else ""
    return quoted("{" + ",".join(texts) + "}") + cast
