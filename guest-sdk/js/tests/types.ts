// Compiled, not run: what the types accept and refuse.

import { type Json, type Timestamp, sql, transition } from "../src/index.js";

export const good = transition(
  { reads: { a: "text", n: "bigint?", e: "enum(new, paid)", l: "integer[]", at: "timestamptz", j: "jsonb" }, writes: { a: "text", n: "numeric", e: "enum(new,paid)" } },
  (state, host) => {
    const text: string = state.a;
    const wide: bigint | null = state.n;
    const label: "new" | "paid" = state.e;
    const list: (number | null)[] = state.l;
    const at: Timestamp = state.at;
    const json: Json = state.j;
    host.log.info("moved", { text, wide, label, list, at, json });
    return { a: sql`lower(${text})`, n: "1.50", e: "paid" };
  },
);

export const anything = transition({}, (state) => `a = ${state.whatever}`);

// @ts-expect-error there is no such type
transition({ reads: { a: "varchar" } }, () => {});
// @ts-expect-error it is not read
transition({ reads: { a: "text" } }, (state) => void state.b);
// @ts-expect-error it is not declared
transition({ reads: {}, writes: { a: "text" } }, () => ({ b: 1 }));
// @ts-expect-error it has another type
transition({ reads: {}, writes: { a: "text" } }, () => ({ a: 1 }));
// @ts-expect-error there is no such label
transition({ reads: {}, writes: { e: "enum(new,paid)" } }, () => ({ e: "old" }));
