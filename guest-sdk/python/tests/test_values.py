"""Values on their way to a component and back, and as SQL."""

import datetime
import uuid
from decimal import Decimal
from typing import Annotated, Any

import pytest

from wedflow import INFINITY, NEGATIVE_INFINITY, Bigint, Interval, Json, Kind, sql
from wedflow.values import READ, Mismatch, format_json, literal, literal_of, parse_json, write

UTC = datetime.timezone.utc


@pytest.mark.parametrize(
    ("declared", "name", "nullable"),
    [
        (str, "text", False),
        (int, "integer", False),
        (Bigint, "bigint", False),
        (Decimal | None, "numeric", True),
        (list[int], "integer[]", False),
        (list[str | None], "text[]", False),
        (list[Bigint] | None, "bigint[]", True),
        (Json, "jsonb", False),
        (dict[str, Any], "jsonb", False),
        (datetime.datetime, "timestamptz", False),
        (datetime.date, "date", False),
        (datetime.timedelta, "interval", False),
        (Any, "any", False),
        ("enum(new, paid)[]?", "enum(new,paid)[]", True),
        (Annotated[str, Kind.of("enum(a,b)")], "enum(a,b)", False),
    ],
)
def test_types_are_read_from_names_and_annotations(declared, name, nullable):
    kind = Kind.of(declared)
    assert (kind.name, kind.nullable) == (name, nullable)


@pytest.mark.parametrize("declared", ["varchar", "", "enum()", "text[][]", "any[]", set, int | str, list[list[int]]])
def test_what_is_no_type_is_refused(declared):
    with pytest.raises(TypeError):
        Kind.of(declared)


@pytest.mark.parametrize(
    ("kind", "value", "raw"),
    [
        ("bigint", -(2**63), -(2**63)),
        ("numeric", Decimal("1.10"), "1.10"),
        ("numeric", Decimal("-1E-40"), "-0." + "0" * 39 + "1"),
        ("numeric", Decimal("Infinity"), "Infinity"),
        ("numeric", Decimal("NaN"), "NaN"),
        ("float", 3, 3.0),
        ("timestamptz", datetime.datetime(1970, 1, 1, 0, 0, 0, 1, UTC), 1),
        ("timestamptz", INFINITY, 2**63 - 1),
        ("timestamptz", NEGATIVE_INFINITY, -(2**63)),
        ("date", datetime.date(1969, 12, 31), -1),
        ("date", NEGATIVE_INFINITY, -(2**31)),
        ("interval", datetime.timedelta(days=1, hours=2), "P1DT2H"),
        ("uuid", "8C5F4C7E-0000-4000-8000-000000000001", "8c5f4c7e-0000-4000-8000-000000000001"),
        ("jsonb", {"a": [Decimal("1.10"), None]}, '{"a":[1.10,null]}'),
    ],
)
def test_values_travel(kind, value, raw):
    assert write(Kind.of(kind), value) == (kind, raw)


@pytest.mark.parametrize(
    ("kind", "value", "part"),
    [
        ("integer", 2**31, "does not fit into 32 bits"),
        ("integer", True, "no int"),
        ("integer", "x", "no int"),
        ("text", 1, "no str"),
        ("text", "a\0b", "the character U.0000"),
        ("text", "\ud800", "surrogate"),
        ("numeric", 1.5, "write Decimal"),
        ("boolean", 1, "no bool"),
        ("timestamptz", datetime.datetime(2026, 1, 1), "no time zone"),
        ("date", datetime.datetime(2026, 1, 1, tzinfo=UTC), "no date"),
        ("enum(a,b)", "c", "none of its labels"),
        ("text[]", "abc", "no list"),
        ("uuid", "x", "is none"),
        ("jsonb", {1, 2}, "JSON"),
        ("jsonb", float("nan"), "JSON"),
    ],
)
def test_what_does_not_fit_is_said(kind, value, part):
    with pytest.raises(Mismatch, match=part):
        write(Kind.of(kind), value)


@pytest.mark.parametrize(
    "text",
    ["PT0S", "P1Y2M3DT4H5M6.789S", "P-1M", "P1M-2DT-3H", "PT-0.000001S", "PT2562047788H54.775807S", "P178000000Y"],
)
def test_intervals_keep_their_text(text):
    assert str(Interval.parse(text)) == text


def test_intervals_with_months_are_no_timedelta():
    assert Interval.parse("P1DT1H").timedelta() == datetime.timedelta(days=1, hours=1)
    with pytest.raises(ValueError, match="months"):
        Interval(months=1).timedelta()
    with pytest.raises(ValueError):
        Interval.parse("P")


def test_infinity_is_after_every_date_and_timestamp():
    assert datetime.date(9999, 12, 31) < INFINITY
    assert NEGATIVE_INFINITY < datetime.datetime(1, 1, 1, tzinfo=UTC) < INFINITY
    assert READ["date"](2**31 - 1) == INFINITY != NEGATIVE_INFINITY


def test_json_keeps_every_digit():
    text = '{"big":12345678901234567890123456789,"exact":1.10,"é":[[],{},null,true,"\\""]}'
    assert format_json(parse_json(text)) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "NULL"),
        ("it's \\", "'it''s \\'"),
        (-5, "(-5)"),
        (2**40, "'1099511627776'::bigint"),
        (Decimal("1.50"), "'1.50'::numeric"),
        (-0.0, "'-0.0'::double precision"),
        (True, "true"),
        (INFINITY if False else datetime.date(2026, 1, 2), "'2026-01-02'::date"),
        (uuid.UUID(int=0), "'00000000-0000-0000-0000-000000000000'::uuid"),
        ([1, None, 3], "'{\"1\",NULL,\"3\"}'::integer[]"),
        (['a"b', "\\", None], "'{\"a\\\"b\",\"\\\\\",NULL}'::text[]"),
        ([], "'{}'"),
        ({"a": 1}, "'{\"a\":1}'::jsonb"),
    ],
)
def test_literals(value, text):
    assert literal(value) == text


def test_literals_of_a_type():
    assert literal_of(Kind.of("numeric"), 5) == "'5'::numeric"
    assert literal_of(Kind.of("timestamptz"), INFINITY) == "'infinity'::timestamptz"
    assert literal_of(Kind.of("jsonb[]"), [{"a": 1}, 2]) == "'{\"{\\\"a\\\":1}\",\"2\"}'::jsonb[]"


def test_values_never_become_sql():
    assert sql("lower({name}) || '{{}}'", name="x'; DROP TABLE y; --").text == "lower('x''; DROP TABLE y; --') || '{}'"
    for wrong in ("{name", "{}", "}"):
        with pytest.raises(ValueError):
            sql(wrong)
    with pytest.raises(ValueError, match="not given"):
        sql("{a}")
    with pytest.raises(ValueError, match="no place"):
        sql("n + 1", a=1)
