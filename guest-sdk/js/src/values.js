/** Values: from and to what travels, which is `{ tag, val }`, and as SQL literals. */

const I64_MAX = 2n ** 63n - 1n;
const I64_MIN = -(2n ** 63n);
const I32_MAX = 2 ** 31 - 1;
const I32_MIN = -(2 ** 31);
const DAY = 86_400_000;

/** A value that does not fit its attribute's type; the message goes on from the attribute's name. */
export class Mismatch extends Error {}

/** A point in time, to the microsecond; `infinity` and `-infinity` are after and before all others. */
export class Timestamp {
  #micros;

  constructor(micros) {
    if (typeof micros !== "bigint" || micros > I64_MAX || micros < I64_MIN) {
      throw new TypeError("a Timestamp is made of a bigint: microseconds since 1970; see also Timestamp.from");
    }
    this.#micros = micros;
  }

  static INFINITY = new Timestamp(I64_MAX);
  static NEGATIVE_INFINITY = new Timestamp(I64_MIN);

  /** From a Timestamp, a Date, an ISO 8601 text with its offset, or anything with `epochNanoseconds`. */
  static from(value) {
    if (value instanceof Timestamp) return value;
    if (value instanceof Date) {
      if (Number.isNaN(value.getTime())) throw new RangeError("an invalid Date is no timestamp");
      return new Timestamp(BigInt(value.getTime()) * 1000n);
    }
    if (typeof value?.epochNanoseconds === "bigint") {
      const nanos = value.epochNanoseconds;
      return new Timestamp((nanos - (((nanos % 1000n) + 1000n) % 1000n)) / 1000n);
    }
    if (typeof value === "string") {
      if (value === "infinity") return Timestamp.INFINITY;
      if (value === "-infinity") return Timestamp.NEGATIVE_INFINITY;
      const match =
        /^(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d)(:\d\d)?(?:[.,](\d{1,6})\d*)?(Z|[+-]\d\d(?::?\d\d)?)$/i.exec(value);
      if (match) {
        const [, date, minutes, seconds = ":00", fraction = "", offset] = match;
        const zone = /^z$/i.test(offset) ? "Z" : `${offset.slice(0, 3)}:${offset.slice(3).replace(":", "") || "00"}`;
        const millis = Date.parse(`${date}T${minutes}${seconds}${zone}`);
        if (!Number.isNaN(millis)) return new Timestamp(BigInt(millis) * 1000n + BigInt(fraction.padEnd(6, "0")));
      }
    }
    throw new TypeError(
      `${shown(value)} is no timestamp; use a Timestamp, a Date, or ISO 8601 with its offset, as in 2026-11-21T13:30:00Z`,
    );
  }

  /** Microseconds since 1970-01-01T00:00:00Z. */
  get microseconds() {
    return this.#micros;
  }

  /** Whether it is neither `infinity` nor `-infinity`. */
  get isFinite() {
    return this.#micros !== I64_MAX && this.#micros !== I64_MIN;
  }

  /** As a Date, which has milliseconds. */
  toDate() {
    if (!this.isFinite) throw new RangeError(`${this} is no Date`);
    return new Date(Number(this.#floor() / 1000n));
  }

  /** Milliseconds since 1970, so that `<`, `>` and `-` work. */
  valueOf() {
    if (this.#micros === I64_MAX) return Infinity;
    if (this.#micros === I64_MIN) return -Infinity;
    return Number(this.#micros) / 1000;
  }

  toString() {
    if (this.#micros === I64_MAX) return "infinity";
    if (this.#micros === I64_MIN) return "-infinity";
    const micros = this.#micros - this.#floor();
    const text = this.toDate().toISOString().slice(0, -1);
    return micros ? `${text}${String(micros).padStart(3, "0")}Z` : `${text}Z`;
  }

  toJSON() {
    return this.toString();
  }

  /** The start of its millisecond. */
  #floor() {
    return this.#micros - (((this.#micros % 1000n) + 1000n) % 1000n);
  }
}

/** A JSON value: `text` as it stands, to the digit, and `value` as JavaScript has it (numbers are doubles). */
export class Json {
  #text;
  #value;

  constructor(text) {
    this.#text = text;
  }

  /** From a JavaScript value. */
  static of(value) {
    return new Json(stringify(value));
  }

  get text() {
    return this.#text;
  }

  get value() {
    if (this.#value === undefined) this.#value = JSON.parse(this.#text);
    return this.#value;
  }

  toString() {
    return this.#text;
  }

  toJSON() {
    return this.value;
  }
}

function stringify(value) {
  // A bigint is a number, and what JSON cannot say must not vanish.
  const text = JSON.stringify(value, (key, member) => {
    if (typeof member === "bigint") return JSON.rawJSON ? JSON.rawJSON(String(member)) : fail(`holds the bigint ${member}`);
    if (typeof member === "function" || typeof member === "symbol") fail(`holds a ${typeof member} at ${shown(key)}`);
    if (typeof member === "number" && !Number.isFinite(member)) fail(`holds ${member} at ${shown(key)}`);
    return member;
  });
  return text ?? fail(`is ${typeof value}`);
}

function fail(what) {
  throw new Mismatch(`is jsonb, and the value ${what}, which JSON cannot say`);
}

/** A value for a message. */
export function shown(value) {
  let text;
  try {
    text = typeof value === "string" ? JSON.stringify(value) : typeof value === "bigint" ? `${value}n` : String(value);
  } catch {
    text = typeof value;
  }
  return text.length > 80 ? `${text.slice(0, 79)}…` : text;
}

// ---- What travels ----------------------------------------------------------------------------------

function dateOf(days) {
  if (days === I32_MAX) return "infinity";
  if (days === I32_MIN) return "-infinity";
  return new Date(days * DAY).toISOString().split("T")[0];
}

/** Whether a text has no half of a surrogate pair, which has no UTF-8. (Node.js has the function from 20 on.) */
const isWellFormed = "".isWellFormed ? (text) => text.isWellFormed() : (text) => !/[\ud800-\udfff]/u.test(text);

const same = (raw) => raw;

/** From what travels to JavaScript, by tag. */
const READ = {
  null: () => null,
  text: same,
  integer: same,
  bigint: same,
  numeric: same,
  float: same,
  boolean: same,
  timestamptz: (raw) => new Timestamp(raw),
  date: dateOf,
  interval: same,
  uuid: same,
  jsonb: (raw) => new Json(raw),
};

/** Reads a value as it travels: `{ tag: "scalar" | "list", val }`. */
export function read(value) {
  return value.tag === "list" ? value.val.map(readScalar) : readScalar(value.val);
}

function readScalar(scalar) {
  return READ[scalar.tag](scalar.val);
}

function no(kind, value, wanted) {
  throw new Mismatch(`is ${kind}, and ${shown(value)} is no ${wanted}`);
}

const WRITE = {
  text(value) {
    if (typeof value !== "string") no("text", value, "string");
    if (value.includes("\0")) throw new Mismatch("is text, and the string has the character U+0000, which Postgres does not store");
    if (!isWellFormed(value)) throw new Mismatch("is text, and the string has half a surrogate pair");
    return value;
  },
  integer(value) {
    const number = typeof value === "bigint" ? Number(value) : value;
    if (!Number.isInteger(number)) no("integer", value, "whole number");
    if (number > I32_MAX || number < I32_MIN) throw new Mismatch(`is integer, and ${shown(value)} does not fit into 32 bits`);
    // Without -0.
    return number + 0;
  },
  bigint(value) {
    if (typeof value === "number") {
      if (!Number.isSafeInteger(value)) no("bigint", value, "bigint or whole number that is exact");
      value = BigInt(value);
    }
    if (typeof value !== "bigint") no("bigint", value, "bigint");
    if (value > I64_MAX || value < I64_MIN) throw new Mismatch(`is bigint, and ${shown(value)} does not fit into 64 bits`);
    return value;
  },
  numeric(value) {
    if (typeof value === "bigint" || typeof value === "number") return String(value);
    if (typeof value !== "string" || !/^\s*([-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?|nan|[-+]?inf(inity)?)\s*$/i.test(value)) {
      no("numeric", value, "number: use a string of digits, a bigint or a number");
    }
    return value;
  },
  float(value) {
    return typeof value === "number" ? value : no("float", value, "number");
  },
  boolean(value) {
    return typeof value === "boolean" ? value : no("boolean", value, "boolean");
  },
  timestamptz(value) {
    try {
      return Timestamp.from(value).microseconds;
    } catch (error) {
      throw new Mismatch(`is timestamptz, and ${error.message}`);
    }
  },
  date(value) {
    if (value === "infinity") return I32_MAX;
    if (value === "-infinity") return I32_MIN;
    // A Temporal.PlainDate says what it is.
    const text = typeof value === "string" ? value : typeof value?.daysInMonth === "number" ? String(value) : "";
    const days = /^\d{4}-\d\d-\d\d$/.test(text) ? Date.parse(`${text}T00:00:00Z`) / DAY : NaN;
    if (Number.isNaN(days) || dateOf(days) !== text) {
      const hint = value instanceof Date ? "; a Date is a point in time, so say which day: date.toISOString().slice(0, 10)" : "";
      no("date", value, `date as in "2026-11-21"${hint}`);
    }
    return days;
  },
  interval(value) {
    const text = typeof value === "string" ? value : /Duration/.test(Object.prototype.toString.call(value)) ? String(value) : "";
    return text || no("interval", value, 'interval as in "P1DT2H"');
  },
  uuid(value) {
    if (typeof value !== "string" || !/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(value)) no("uuid", value, "uuid");
    return value.toLowerCase();
  },
  jsonb(value) {
    return value instanceof Json ? value.text : stringify(value);
  },
};

/** The type of a value that was written without one. */
function tagOf(value) {
  switch (typeof value) {
    case "string":
      return "text";
    case "boolean":
      return "boolean";
    case "bigint":
      return value > I64_MAX || value < I64_MIN ? "numeric" : "bigint";
    case "number":
      return Number.isInteger(value) && value <= I32_MAX && value >= I32_MIN && !Object.is(value, -0) ? "integer" : "float";
    case "object":
      return value instanceof Timestamp || value instanceof Date ? "timestamptz" : "jsonb";
    default:
      throw new Mismatch(`cannot hold ${shown(value)}: no attribute type is like it`);
  }
}

/** The type of a list's elements. */
function commonTag(values) {
  const tags = new Set(values.filter((one) => one !== null && one !== undefined).map(tagOf));
  for (const order of [["integer", "bigint", "numeric"], ["integer", "float"]]) {
    if ([...tags].every((tag) => order.includes(tag))) return order.findLast((tag) => tags.has(tag)) ?? "";
  }
  if (tags.size > 1) throw new Mismatch(`cannot be a list of several types: ${[...tags].join(", ")}`);
  return [...tags][0];
}

const NULL = { tag: "null" };

function tagged(tag, value) {
  return value === null || value === undefined ? NULL : { tag, val: WRITE[tag](value) };
}

/** Writes a value as it travels. */
export function write(kind, value) {
  if (value === null || value === undefined) return { tag: "scalar", val: NULL };
  if (kind.scalar === "any") {
    if (!Array.isArray(value)) return { tag: "scalar", val: tagged(tagOf(value), value) };
    const tag = commonTag(value);
    return { tag: "list", val: value.map((one) => tagged(tag, one)) };
  }
  if (kind.array) {
    if (!Array.isArray(value)) no(kind.name, value, "array");
    return { tag: "list", val: value.map((one) => writeScalar(kind, one)) };
  }
  return { tag: "scalar", val: writeScalar(kind, value) };
}

function writeScalar(kind, value) {
  if (kind.scalar !== "enum") return tagged(kind.scalar, value);
  const label = tagged("text", value);
  if (label.val !== undefined && !kind.labels.includes(label.val)) throw new Mismatch(`is ${kind.name}, and ${shown(value)} is none of its labels`);
  return label;
}

// ---- SQL -------------------------------------------------------------------------------------------

const CAST = { float: "double precision" };

/** A value as a SQL literal of the type that it looks like. */
export function literal(value) {
  try {
    if (value?.constructor?.name === "Sql" && typeof value.text === "string") return value.text;
    if (Array.isArray(value)) {
      const tag = commonTag(value);
      return array(tag, value.map((one) => tagged(tag, one)));
    }
    return value === null || value === undefined ? "NULL" : scalar(tagged(tagOf(value), value));
  } catch (error) {
    throw error instanceof Mismatch ? new TypeError(`a value in SQL ${error.message}`) : error;
  }
}

/** A value as a SQL literal of an attribute's type. */
export function literalOf(kind, value) {
  const { tag, val } = write(kind, value);
  return tag === "list" ? array(kind.scalar === "enum" ? "text" : kind.scalar, val) : scalar(val);
}

function quoted(text) {
  return `'${text.replaceAll("'", "''")}'`;
}

function scalar({ tag, val }) {
  switch (tag) {
    case "null":
      return "NULL";
    // No cast: a literal of unknown type also fits an enum.
    case "text":
      return quoted(val);
    // `n -${x}` must not become a comment.
    case "integer":
      return val < 0 ? `(${val})` : String(val);
    case "boolean":
      return String(val);
    default:
      return `${quoted(plain(tag, val))}::${CAST[tag] ?? tag}`;
  }
}

/** A raw value in Postgres's input notation. */
function plain(tag, val) {
  switch (tag) {
    case "timestamptz":
      return new Timestamp(val).toString();
    case "date":
      return dateOf(val);
    default:
      return Object.is(val, -0) ? "-0" : String(val);
  }
}

function array(tag, values) {
  const elements = values.map((one) =>
    one.tag === "null" ? "NULL" : `"${plain(one.tag, one.val).replace(/[\\"]/g, "\\$&")}"`,
  );
  return quoted(`{${elements.join(",")}}`) + (tag ? `::${CAST[tag] ?? tag}[]` : "");
}
