// What a transition declares, is handed, and answers.

import assert from "node:assert/strict";
import { test } from "node:test";
import { Abort, Fail, Json, Retry, Secret, Timestamp, sql, transition } from "../src/index.js";
import { Server, call } from "../src/testing.js";
import { exported } from "../src/transition.js";

const greet = transition(
  { reads: { name: "text", visits: "integer?" }, writes: { greeting: "text", visits: "integer" } },
  ({ name, visits }) => ({ greeting: `Hello, ${name}!`, visits: (visits ?? 0) + 1 }),
);

test("a state is handed over, and new values come back", () => {
  assert.deepEqual(call(greet, { name: "Ada" }), { values: { greeting: "Hello, Ada!", visits: 1 } });
  assert.deepEqual(call(greet, { name: "Ada", visits: 2 }).values.visits, 3);
});

test("a null that is not expected is named", () => {
  const { failed, retry } = call(greet);
  assert.match(failed, /`name` is null/);
  assert.equal(retry, false);
  assert.throws(() => call(greet, { nobody: 1 }), /does not read `nobody`/);
});

test("every type travels there and back", () => {
  const kinds = {
    text: "é🦀",
    integer: -(2 ** 31),
    bigint: -(2n ** 63n),
    numeric: "1.10",
    float: -0,
    boolean: false,
    timestamptz: Timestamp.from("2026-11-21T13:30:00.123456+05:30"),
    date: "0001-01-01",
    interval: "P1M-2DT-3H",
    uuid: "8c5f4c7e-0000-4000-8000-000000000001",
    jsonb: new Json('{"a":1.10}'),
    "enum(new, paid)": "paid",
  };
  for (const [kind, value] of Object.entries(kinds)) {
    const same = transition({ reads: { a: kind, l: `${kind}[]` }, writes: { a: kind, l: `${kind}[]` } }, (state) => ({ ...state }));
    const { values } = call(same, { a: value, l: [value, null] });
    assert.equal(String(values.a), String(value), kind);
    assert.ok(Object.is(Number(values.a), Number(value)) || Number.isNaN(Number(value)), kind);
    assert.deepEqual([String(values.l[0]), values.l[1], values.l.length], [String(value), null, 2], kind);
  }
});

test("what does not fit is said before the server sees it", () => {
  for (const [kind, value, part] of [
    ["integer", 2 ** 31, /does not fit into 32 bits/],
    ["integer", 1.5, /no whole number/],
    ["bigint", 2 ** 60, /exact/],
    ["bigint", 2n ** 63n, /64 bits/],
    ["text", 1, /no string/],
    ["text", "a\0", /the character U\+0000/],
    ["text", "\ud800", /surrogate/],
    ["numeric", "one", /no number/],
    ["float", "1", /no number/],
    ["boolean", 0, /no boolean/],
    ["timestamptz", "2026-11-21", /no timestamp/],
    ["date", "2026-02-30", /no date/],
    ["date", new Date(0), /which day/],
    ["uuid", "x", /no uuid/],
    ["enum(a,b)", "c", /none of its labels/],
    ["text[]", "abc", /no array/],
    ["jsonb", { a: NaN }, /JSON cannot say/],
    ["jsonb", () => 1, /JSON cannot say/],
  ]) {
    const { failed, retry } = call(transition({ reads: {}, writes: { a: kind } }, () => ({ a: value })));
    assert.match(failed ?? "it was taken", part, kind);
    assert.match(failed, /^attribute `a` is /);
    assert.equal(retry, false);
  }
});

test("answers", () => {
  const answers = transition({ reads: { how: "text" }, writes: { n: "integer" } }, (state, host) => {
    switch (state.how) {
      case "abort":
        throw new Abort("not yet", { after: 1.5 });
      case "fail":
        throw new Fail("never");
      case "retry":
        throw new Retry("perhaps");
      case "clause":
        return "n = n + 1";
      case "mixed":
        return { n: sql`n + ${-2}` };
      case "nothing":
        return;
      case "undeclared":
        return { m: 1 };
      case "list":
        return [1];
      case "async":
        return Promise.resolve({});
      case "thrown":
        throw "a string";
      default:
        return { n: state.missing };
    }
  });
  const how = (text) => call(answers, { how: text });
  assert.deepEqual(how("abort"), { aborted: "not yet", after: 1.5 });
  assert.deepEqual(how("fail"), { failed: "never", retry: false });
  assert.deepEqual(how("retry"), { failed: "perhaps", retry: true });
  assert.deepEqual(how("clause"), { clause: "n = n + 1" });
  assert.deepEqual(how("mixed"), { clause: '"n" = n + (-2)' });
  assert.deepEqual(how("nothing"), { values: {} });
  assert.match(how("undeclared").failed, /sets `m`/);
  assert.match(how("list").failed, /must answer/);
  assert.match(how("async").failed, /asynchronous/);
  assert.deepEqual(how("thrown"), { failed: "a string", retry: true });
  const unexpected = how("?");
  assert.match(unexpected.failed, /^TypeError: the transition does not read `missing`[^]*transition\.test\.js/);
  assert.equal(unexpected.retry, true);
});

test("values never become SQL", () => {
  const hostile = "x'; DROP TABLE y; --\\";
  assert.equal(sql`lower(${hostile})`.text, "lower('x''; DROP TABLE y; --\\')");
  assert.equal(
    sql`${null} ${5n} ${1.5} ${true} ${[1, null, 3n]} ${['a"b', "\\"]} ${{ a: "'" }} ${new Date(0)} ${[]}`.text,
    `NULL '5'::bigint '1.5'::double precision true '{"1",NULL,"3"}'::bigint[] '{"a\\"b","\\\\"}'::text[] ` +
      `'{"a":"''"}'::jsonb '1970-01-01T00:00:00.000Z'::timestamptz '{}'`,
  );
  assert.throws(() => sql("n + 1"), /template tag/);
  assert.throws(() => sql`${["a", 1]}`, /several types/);
});

test("timestamps keep microseconds and infinity", () => {
  for (const text of ["1969-12-31T23:59:59.999999Z", "0001-01-01T00:00:00.000Z", "9999-12-30T22:00:00.999999Z", "infinity"]) {
    assert.equal(String(Timestamp.from(text)), text);
  }
  assert.ok(Timestamp.from("2026-11-21T13:30:00Z") < Timestamp.INFINITY);
  assert.equal(Timestamp.from({ epochNanoseconds: -1n }).microseconds, -1n);
  assert.equal(Timestamp.from("2026-11-21 13:30:00.5+0530").toDate().toISOString(), "2026-11-21T08:00:00.500Z");
});

test("the server is asked", () => {
  const server = new Server({ now: "2026-11-21T00:00:00Z", random: [27n], config: { region: "eu" }, secrets: { key: "abc" } });
  const asks = transition({ writes: { a: "text", n: "integer" } }, (state, host) => {
    host.log.info("asks", { region: host.config("region"), key: host.secret("key").length });
    host.sleep(2000);
    return { a: `${Object.keys(state)} ${host.now()} ${host.remaining()}`, n: host.randomBelow(10) };
  });
  assert.deepEqual(call(asks, { b: 1, c: "x" }, { server }).values, { a: "b,c 2026-11-21T00:00:02.000Z 58000", n: 7 });
  assert.deepEqual(server.logs, [{ severity: "info", message: "asks", fields: { region: "eu", key: "3" } }]);
});

test("a module's transitions are named as they are exported", () => {
  const found = exported({ pack: transition({}, () => {}), _excpt: transition({ name: "_EXCPT" }, () => {}), other: 1 });
  assert.deepEqual([...found.keys()], ["pack", "_EXCPT"]);
  assert.throws(() => exported({}), /exports no transition/);
  assert.throws(() => transition({ reads: { a: "varchar" } }, () => {}), /reads `a`: unknown attribute type/);
  assert.throws(() => transition({ read: {} }, () => {}), /no option read/);
});

test("files and HTTP are the host's", () => {
  const report = transition({ reads: { id: "text" }, writes: { seen: "text" } }, ({ id }, host) => {
    const before = host.files.readText("count") ?? "0";
    host.files.write("count", String(Number(before) + 1));
    const answer = host.fetch("https://api.example.com/", {
      method: "POST",
      headers: { authorization: new Secret("key", "Bearer "), "idempotency-key": host.key() },
      body: id,
    });
    return { seen: `${answer.status} ${answer.json().ok} ${host.files.all()[0].size}` };
  });
  const server = new Server({ files: { count: "41" }, answers: [{ status: 201, body: '{"ok": true}' }, { kind: "unreachable", message: "away" }] });
  assert.deepEqual(call(report, { id: "a" }, { server }), { values: { seen: "201 true 2" } });
  assert.equal(new TextDecoder().decode(server.contents.get("count")), "42");
  assert.deepEqual(server.requests[0].headers[0], { name: "authorization", value: "Bearer ", secret: "key" });
  assert.deepEqual(call(report, { id: "a" }, { server }), { failed: "away", retry: true });
  assert.match(call(report, { id: "a" }, { server }).failed, /no answer to POST/);
});
