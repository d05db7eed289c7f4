"""The conformance guest in Python; what each transition must do is in ../BEHAVIOURS.md."""

import os
import random as chance
import time
import uuid
from decimal import Decimal

import wedflow
from wedflow import Abort, Fail, Job, Retry, Row, config, log, now, random, secret, sleep, sql, transition

wedflow.component("conformance")

TYPES = (
    "text",
    "enum(new,paid)",
    "integer",
    "bigint",
    "numeric",
    "float",
    "boolean",
    "timestamptz",
    "date",
    "interval",
    "uuid",
    "jsonb",
)
SINGLES = {f"a_{kind.partition('(')[0]}": kind for kind in TYPES}
ALL = SINGLES | {f"l_{kind.partition('(')[0]}": f"{kind}[]" for kind in TYPES}
NULLABLE = {name: f"{kind}?" for name, kind in ALL.items()}

calls = 0


@transition(reads=NULLABLE, writes=ALL)
def echo(row):
    return dict(row)


@transition(reads=NULLABLE, writes={"a_integer": int, "a_text": str})
def nulls(row):
    return {"a_integer": sum(value is None for value in row.values()), "a_text": None}


@transition(reads={"a_text": str}, writes={"a_text": str})
def required(row):
    return {"a_text": row.a_text}


@transition(reads={"a_text": str}, writes={"a_text": str, "a_integer": int})
def unicode(row):
    return {"a_text": row.a_text + " ✓ 𝄞", "a_integer": len(row.a_text)}


@transition(
    reads={"a_text": "text?", "l_text": "text[]?"}, writes={"a_bigint": "bigint", "a_text": "text"}
)
def large(row):
    text = row.a_text or ""
    size = len(text.encode()) + sum(len((one or "").encode()) for one in row.l_text or [])
    return {"a_bigint": size, "a_text": text[:100_000]}


@transition(writes={"a_text": str})
def names(row: Row):
    return {"a_text": ",".join(row)}


@transition(writes={"a_text": "text", "a_timestamptz": "timestamptz"})
def job(job: Job):
    return {
        "a_text": f"{job.flow} {job.wid} {job.trigger} {job.transition} {job.attempt}",
        "a_timestamptz": job.deadline,
    }


@transition(writes={"a_integer": int, "a_numeric": Decimal, "a_text": str, "l_integer": list[int]})
def assign():
    return {"a_integer": 7, "a_numeric": Decimal("1.50"), "a_text": "it's", "l_integer": [1, None, 3]}


@transition
def clause():
    return "a_text='done', a_integer=a_integer+1"


MIXED = {"a_text": str, "a_numeric": Decimal, "a_float": float, "a_timestamptz": "timestamptz", "a_date": "date"}


@transition(reads=MIXED, writes=MIXED | {"a_integer": int})
def mixed(row):
    return {name: getattr(row, name) for name in MIXED} | {"a_integer": sql("a_integer + 1")}


@transition(writes={})
def abort():
    raise Abort("not yet")


@transition(writes={})
def abort_after():
    raise Abort("in a minute", after=90.5)


@transition(writes={})
def fail():
    raise Retry("no stock")


@transition(writes={})
def fail_for_good():
    raise Fail("no such customer")


def pick(at):
    raise LookupError(f"index {at} is not there")


@transition(writes={})
def error():
    pick(7)


@transition(writes={"a_integer": int})
def undeclared():
    return {"a_text": "x"}


@transition(writes={"a_integer": int})
def wrong_type():
    return {"a_integer": "x"}


@transition(writes={"a_integer": int})
def out_of_range():
    return {"a_integer": 2147483648}


@transition(writes={})
def loop():
    n = 0
    while True:
        n += 1


def deeper(n):
    return deeper(n + 1) + 1


@transition(writes={})
def recursion():
    deeper(0)


@transition(writes={})
def memory():
    kept = []
    while True:
        kept.append(bytearray(b"x" * (1 << 20)))


@transition(name="log", writes={})
def log_lines():
    log.debug("d")
    log.info("i")
    log.warn("w")
    log.error("e")
    log.info("moved", **{"from": "a", "to": "ü"})
    raise Abort("logged")


@transition(name="print", writes={})
def print_line():
    print("printed")
    raise Abort("printed")


@transition(name="sleep", writes={"a_bigint": "bigint"})
def sleeps():
    begun = now()
    sleep(0.02)
    took = now() - begun
    return {"a_bigint": took.days * 86_400_000_000 + took.seconds * 1_000_000 + took.microseconds}


@transition(writes={})
def sleep_for_ever():
    sleep(86_400)


@transition(writes={"a_timestamptz": "timestamptz", "a_bigint": "bigint"})
def now_random():
    drawn = random()
    return {"a_timestamptz": now(), "a_bigint": drawn - (1 << 64) if drawn >> 63 else drawn}


@transition(writes={"a_text": str})
def library():
    return {"a_text": f"{time.time_ns() // 1000} {chance.random()} {uuid.uuid4()} {os.urandom(9).hex()}"}


@transition(writes={"a_text": str})
def config_secret():
    lengths = [None if value is None else str(len(value.encode())) for value in (secret("api_key"), secret("absent"))]
    return {"a_text": "|".join(one or "-" for one in [config("region"), config("absent"), *lengths])}


@transition(writes={"a_integer": int})
def fresh():
    global calls
    calls += 1
    return {"a_integer": calls}


@transition(reads={f"t{n}": str for n in range(1, 11)})
def clause_of_ten(row):
    return sql("t1={t1}, t2='done'", t1=row.t1)


@transition(
    reads={"a_integer": int},
    writes={"a_integer": int},
    condition="a_integer < 3",
    timeout=1.5,
    fuel=1_000_000_000,
    memory=64 << 20,
)
def manifest(row):
    """Says all there is to say"""
    return {"a_integer": row.a_integer + 1}
