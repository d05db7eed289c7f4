/** What a transition answers besides new values: aborting, failing, and SQL expressions. */

import { literal } from "./values.js";

/** Throw it to commit nothing and be tried again later, after `after` milliseconds at the earliest. */
export class Abort extends Error {
  name = "Abort";

  constructor(reason, { after } = {}) {
    super(reason);
    if (after !== undefined && !(after >= 0 && after < 1e15)) {
      throw new RangeError(`\`after\` must be milliseconds, 0 or more, not ${after}`);
    }
    this.after = after;
  }
}

/** Throw it when no further attempt can help: the instance becomes an exception at once. */
export class Fail extends Error {
  name = "Fail";
  retry = false;
}

/** Throw it when it failed and another attempt may succeed. */
export class Retry extends Fail {
  name = "Retry";
  retry = true;
}

/** SQL, with its values written as literals. */
export class Sql {
  constructor(text) {
    this.text = text;
  }
}

/**
 * A SQL expression, evaluated on the state as it is when the transition commits; what stands in `${}`
 * becomes a literal of its type, never SQL. Returned alone it is the whole SET clause.
 */
export function sql(strings, ...values) {
  if (!Array.isArray(strings?.raw)) {
    throw new TypeError("sql is a template tag: sql`n + ${step}`");
  }
  return new Sql(strings.reduce((text, part, at) => text + literal(values[at - 1]) + part));
}

/** Why a file is not read or written: `kind` is `denied`, `name`, `no-room` or `unavailable`. */
export class FileError extends Fail {
  constructor(kind, message) {
    super(message);
    this.kind = kind;
    this.retry = kind === "unavailable";
  }
}

/** Why there is no answer: `kind` is `denied`, `invalid`, `too-large`, `unreachable` or `timed-out`. */
export class FetchError extends Fail {
  constructor(kind, message) {
    super(message);
    this.kind = kind;
    this.retry = kind === "unreachable" || kind === "timed-out";
  }
}

/** A header's value that ends with a secret of the flow, which the server puts there: the transition need not know it. */
export class Secret {
  constructor(name, before = "") {
    this.name = name;
    this.before = before;
  }
}
