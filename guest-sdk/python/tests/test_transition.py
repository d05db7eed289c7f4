"""What a decorated function declares, is handed, and answers."""

import datetime
from dataclasses import dataclass, field

import pytest

from wedflow import (
    Abort, Fail, Job, Retry, Row, config, fetch, files, http, log, now, random_below, secret, sleep, sql, testing, transition,
)


@dataclass
class Person:
    name: str
    visits: int | None
    mail: str | None = field(default=None, metadata={"name": "E-Mail"})


@transition(writes={"greeting": str, "visits": int}, condition="greeting IS NULL", timeout=1.5)
def greet(person: Person):
    """Greets a person
    by name.

    More of it.
    """
    return {"greeting": f"Hello, {person.name}!", "visits": (person.visits or 0) + 1}


def test_what_it_declares():
    assert (greet.name, greet.description, greet.timeout) == ("greet", "Greets a person by name", 1500)
    assert {name: kind.name for name, kind in greet.reads.items()} == {"name": "text", "visits": "integer", "E-Mail": "text"}
    assert list(greet.writes) == ["greeting", "visits"]


def test_a_dataclass_is_the_state():
    assert testing.call(greet, name="Ada").values == {"greeting": "Hello, Ada!", "visits": 1}
    assert testing.call(greet, {"name": "Ada", "E-Mail": "a@b"}, visits=2).values["visits"] == 3


def test_null_where_none_is_expected_is_named():
    answer = testing.call(greet)
    assert "`name` is null" in answer.failed and not answer.retry
    with pytest.raises(TypeError, match="does not read `nobody`"):
        testing.call(greet, nobody=1)


def test_answers():
    @transition(name="answers", reads={"how": str}, writes={"n": int})
    def answers(row):
        match row.how:
            case "abort":
                raise Abort("not yet", after=datetime.timedelta(minutes=1))
            case "fail":
                raise Fail("never")
            case "retry":
                raise Retry("perhaps")
            case "clause":
                return "n = n + 1"
            case "mixed":
                return {"n": sql("n + {by}", by=2)}
            case "nothing":
                return None
            case "undeclared":
                return {"m": 1}
            case "wrong":
                return {"n": "x"}
            case "list":
                return [1]
            case "exit":
                raise SystemExit(3)
            case _:
                return {"n": row.missing}

    def call(how):
        return testing.call(answers, how=how)

    assert call("abort") == testing.Answer(aborted="not yet", after=datetime.timedelta(minutes=1))
    assert call("fail") == testing.Answer(failed="never", retry=False)
    assert call("retry") == testing.Answer(failed="perhaps", retry=True)
    assert call("clause").clause == "n = n + 1"
    assert call("mixed").clause == '"n" = n + 2'
    assert call("nothing").values == {}
    for how, part in (("undeclared", "sets `m`"), ("wrong", "attribute `n` is integer"), ("list", "answered with list")):
        answer = call(how)
        assert part in answer.failed and not answer.retry
    assert call("exit").retry
    unexpected = call("?")
    assert unexpected.retry and unexpected.failed.startswith("AttributeError: the transition does not read `missing`")
    assert "in answers" in unexpected.failed and "wedflow/transitions.py\", line" not in unexpected.failed.split("in answers")[0]


def test_the_job_and_every_attribute():
    @transition(name="names", writes={"a": str})
    def names(row: Row, job: Job):
        return {"a": f"{','.join(row)} {job.wid} {job.attempt} {job.remaining().seconds}"}

    assert testing.call(names, b=1, c="x").values == {"a": "b,c 1 1 60"}


def test_the_server():
    @transition(name="asks", writes={"at": datetime.datetime, "n": int})
    def asks():
        log.info("asks", region=config("region"), key=len(secret("key") or ""))
        sleep(2)
        return {"at": now(), "n": random_below(10)}

    begin = datetime.datetime(2026, 11, 21, tzinfo=datetime.timezone.utc)
    with testing.Server(now=begin, random=[27], config={"region": "eu"}, secrets={"key": "abc"}) as server:
        answer = testing.call(asks)
    assert answer.values == {"at": begin + datetime.timedelta(seconds=2), "n": 7}
    assert server.logs == [testing.LogLine("info", "asks", {"region": "eu", "key": "3"})]
    with pytest.raises(RuntimeError, match="no server"):
        now()


@pytest.mark.parametrize(
    ("make", "part"),
    [
        (lambda: transition(reads={"a": "varchar"})(lambda row: None), "reads `a`: unknown attribute type"),
        (lambda: transition(reads={"a": str})(lambda: None), "takes no state"),
        (lambda: transition(lambda a, b: None), "is a third"),
        (lambda: transition(lambda *a: None), "cannot be given"),
    ],
)
def test_what_makes_no_sense_is_refused(make, part):
    with pytest.raises(TypeError, match=part):
        make()


def test_files_and_http_are_the_servers():
    @transition(writes={"seen": str})
    def report(person: Person):
        count = int(files.read("count") or b"0") + 1
        files.write("count", str(count))
        files.append("log", "x")
        answer = fetch(
            "https://api.example.com/",
            method="POST",
            headers={"authorization": http.Secret("key", "Bearer "), "idempotency-key": http.key()},
            body=person.name,
        )
        return {"seen": f"{answer.status} {answer.json()['ok']} {files.all()}"}

    answers = [http.Response(201, [("x", "y")], b'{"ok": 1}'), http.FetchError("unreachable", "away")]
    with testing.Server(files={"count": b"41"}, answers=answers) as server:
        assert testing.call(report, name="a").values == {"seen": "201 1 {'count': 2, 'log': 1}"}
        assert server.files["count"] == b"42"
        assert server.requests[0][2][0] == ("authorization", "Bearer ", "key")
        answer = testing.call(report, name="a")
        assert (answer.failed, answer.retry) == ("away", True)
        assert "no answer to POST" in testing.call(report, name="a").failed
        assert files.remove("count") and not files.remove("count")
