// The conformance guest in JavaScript; what each transition must do is in ../BEHAVIOURS.md.

import { Abort, Fail, Retry, component, sql, transition } from "@wedflow/guest";

component({ name: "conformance" });

const types = [
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
];
const named = (prefix, kind) => [prefix + kind.replace(/\(.*/, ""), prefix === "l_" ? `${kind}[]` : kind];
const all = Object.fromEntries([...types.map((kind) => named("a_", kind)), ...types.map((kind) => named("l_", kind))]);
const nullable = Object.fromEntries(Object.entries(all).map(([name, kind]) => [name, `${kind}?`]));

export const echo = transition({ reads: nullable, writes: all }, (state) => ({ ...state }));

export const nulls = transition({ reads: nullable, writes: { a_integer: "integer", a_text: "text" } }, (state) => ({
  a_integer: Object.values(state).filter((value) => value === null).length,
  a_text: null,
}));

export const required = transition({ reads: { a_text: "text" }, writes: { a_text: "text" } }, ({ a_text }) => ({ a_text }));

export const unicode = transition(
  { reads: { a_text: "text" }, writes: { a_text: "text", a_integer: "integer" } },
  ({ a_text }) => ({ a_text: `${a_text} ✓ 𝄞`, a_integer: [...a_text].length }),
);

const utf8 = (text) => new TextEncoder().encode(text ?? "").length;

export const large = transition(
  { reads: { a_text: "text?", l_text: "text[]?" }, writes: { a_bigint: "bigint", a_text: "text" } },
  ({ a_text, l_text }) => ({
    a_bigint: BigInt(utf8(a_text) + (l_text ?? []).reduce((sum, one) => sum + utf8(one), 0)),
    a_text: (a_text ?? "").slice(0, 100_000),
  }),
);

export const names = transition({ writes: { a_text: "text" } }, (state) => ({ a_text: Object.keys(state).join(",") }));

export const job = transition({ reads: {}, writes: { a_text: "text", a_timestamptz: "timestamptz" } }, (_, host) => ({
  a_text: [host.flow, host.wid, host.trigger, host.transition, host.attempt].join(" "),
  a_timestamptz: host.deadline,
}));

export const assign = transition(
  { reads: {}, writes: { a_integer: "integer", a_numeric: "numeric", a_text: "text", l_integer: "integer[]" } },
  () => ({ a_integer: 7, a_numeric: "1.50", a_text: "it's", l_integer: [1, null, 3] }),
);

export const clause = transition({ reads: {} }, () => "a_text='done', a_integer=a_integer+1");

export const mixed = transition(
  {
    reads: { a_text: "text", a_numeric: "numeric", a_float: "float", a_timestamptz: "timestamptz", a_date: "date" },
    writes: { a_text: "text", a_numeric: "numeric", a_float: "float", a_timestamptz: "timestamptz", a_date: "date", a_integer: "integer" },
  },
  (state) => ({ ...state, a_integer: sql`a_integer + 1` }),
);

const nothing = { reads: {}, writes: {} };

export const abort = transition(nothing, () => {
  throw new Abort("not yet");
});

export const abort_after = transition(nothing, () => {
  throw new Abort("in a minute", { after: 90_500 });
});

export const fail = transition(nothing, () => {
  throw new Retry("no stock");
});

export const fail_for_good = transition(nothing, () => {
  throw new Fail("no such customer");
});

function pick(at) {
  throw new RangeError(`index ${at} is not there`);
}

export const error = transition(nothing, () => {
  pick(7);
});

const integer = { reads: {}, writes: { a_integer: "integer" } };

export const undeclared = transition(integer, () => ({ a_text: "x" }));
export const wrong_type = transition(integer, () => ({ a_integer: "x" }));
export const out_of_range = transition(integer, () => ({ a_integer: 2147483648 }));

export const loop = transition(nothing, () => {
  for (let n = 0; ; n++);
});

const deeper = (n) => deeper(n + 1) + 1;

export const recursion = transition(nothing, () => {
  deeper(0);
});

export const memory = transition(nothing, () => {
  const kept = [];
  for (;;) kept.push(new Uint8Array(1 << 20).fill(120));
});

export const log = transition(nothing, (_, host) => {
  host.log.debug("d");
  host.log.info("i");
  host.log.warn("w");
  host.log.error("e");
  host.log.info("moved", { from: "a", to: "ü" });
  throw new Abort("logged");
});

export const print = transition(nothing, () => {
  console.log("printed");
  throw new Abort("printed");
});

export const sleep = transition({ reads: {}, writes: { a_bigint: "bigint" } }, (_, host) => {
  const begun = host.now();
  host.sleep(20);
  return { a_bigint: host.now().microseconds - begun.microseconds };
});

export const sleep_for_ever = transition(nothing, (_, host) => {
  host.sleep(86_400_000);
});

export const now_random = transition({ reads: {}, writes: { a_timestamptz: "timestamptz", a_bigint: "bigint" } }, (_, host) => ({
  a_timestamptz: host.now(),
  a_bigint: BigInt.asIntN(64, host.random()),
}));

export const library = transition({ reads: {}, writes: { a_text: "text" } }, () => ({
  a_text: `${Date.now() * 1000} ${Math.random()} ${crypto.randomUUID()}`,
}));

export const config_secret = transition({ reads: {}, writes: { a_text: "text" } }, (_, host) => {
  const length = (name) => (host.secret(name) === undefined ? "-" : utf8(host.secret(name)));
  return { a_text: [host.config("region") ?? "-", host.config("absent") ?? "-", length("api_key"), length("absent")].join("|") };
});

let calls = 0;

export const fresh = transition(integer, () => ({ a_integer: ++calls }));

export const clause_of_ten = transition(
  { reads: Object.fromEntries(Array.from({ length: 10 }, (_, n) => [`t${n + 1}`, "text"])) },
  ({ t1 }) => sql`t1=${t1}, t2='done'`,
);

export const manifest = transition(
  {
    description: "Says all there is to say",
    reads: { a_integer: "integer" },
    writes: { a_integer: "integer" },
    condition: "a_integer < 3",
    timeout: 1500,
    fuel: 1_000_000_000,
    memory: 64 * 1024 * 1024,
  },
  ({ a_integer }) => ({ a_integer: a_integer + 1 }),
);
