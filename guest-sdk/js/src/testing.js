/** Calling transitions in tests, natively, as the server would. */

import { kindOf } from "./kind.js";
import { perform } from "./transition.js";
import { Mismatch, Timestamp, read, write } from "./values.js";

/** Stands in for the server: a clock that moves only by sleeping and `advance`, repeatable random bits. */
export class Server {
  #clock;
  #scripted;
  #seed;
  #config;
  #secrets;
  #answers;
  names = [];
  /** What was logged: `{ severity, message, fields }`. */
  logs = [];
  /** Milliseconds that were slept, in all. */
  slept = 0;

  /** The requests that were sent. */
  requests = [];

  /** `files` are names and contents; `answers` are `{ status, headers, body }`, or `{ kind, message }` where there is none. */
  constructor({ now = "2026-01-01T00:00:00Z", random = [], seed = 0, config = {}, secrets = {}, files = {}, answers = [] } = {}) {
    this.#clock = Timestamp.from(now).microseconds;
    this.#scripted = [...random].map(BigInt);
    this.#seed = BigInt(seed);
    this.#config = new Map(Object.entries(config));
    this.#secrets = new Map(Object.entries(secrets));
    this.contents = new Map(Object.entries(files).map(([name, content]) => [name, encoded(content)]));
    this.#answers = [...answers];
    this.files = {
      read: (name) => this.contents.get(name),
      write: (name, content) => void this.contents.set(name, content),
      append: (name, content) => void this.contents.set(name, Uint8Array.of(...(this.contents.get(name) ?? []), ...content)),
      remove: (name) => this.contents.delete(name),
      all: () => [...this.contents].map(([name, content]) => ({ name, size: BigInt(content.length) })),
    };
    this.http = {
      fetch: (request) => {
        this.requests.push(request);
        const answer = this.#answers.shift() ?? { kind: "denied", message: `the test has no answer to ${request.method} ${request.url}` };
        if (answer.kind) throw Object.assign(new Error(answer.message), { payload: answer });
        return { status: answer.status ?? 200, headers: Object.entries(answer.headers ?? {}), body: encoded(answer.body ?? "") };
      },
      key: () => "flow-1-trigger",
    };
  }

  /** Moves the clock, by milliseconds. */
  advance(milliseconds) {
    this.#clock += BigInt(Math.round(milliseconds * 1000));
  }

  log(severity, message, fields) {
    this.logs.push({ severity, message, fields: Object.fromEntries(fields.map(({ key, value }) => [key, value])) });
  }

  now() {
    return this.#clock;
  }

  random() {
    if (this.#scripted.length) return this.#scripted.shift();
    // SplitMix64.
    this.#seed = BigInt.asUintN(64, this.#seed + 0x9e3779b97f4a7c15n);
    let bits = this.#seed;
    bits = BigInt.asUintN(64, (bits ^ (bits >> 30n)) * 0xbf58476d1ce4e5b9n);
    bits = BigInt.asUintN(64, (bits ^ (bits >> 27n)) * 0x94d049bb133111ebn);
    return bits ^ (bits >> 31n);
  }

  sleep(microseconds) {
    this.#clock += microseconds;
    this.slept += Number(microseconds) / 1000;
  }

  config(key) {
    return this.#config.get(key);
  }

  secret(name) {
    return this.#secrets.get(name);
  }

  attributes() {
    return this.names;
  }
}

const encoded = (content) => (typeof content === "string" ? new TextEncoder().encode(content) : content);

/**
 * Invokes a transition on a state; what is not given is null. Answers `{ values }`, `{ clause }`,
 * `{ aborted, after }` or `{ failed, retry }`.
 */
export function call(made, state = {}, { server = new Server(), job = {} } = {}) {
  const kinds = made.reads ?? new Map(Object.keys(state).map((name) => [name, kindOf("any")]));
  for (const name of Object.keys(state)) {
    if (!kinds.has(name)) throw new TypeError(`the transition does not read \`${name}\`; it reads ${[...kinds.keys()].join(", ") || "nothing"}`);
  }
  const values = [...kinds].map(([name, kind]) => {
    try {
      return write(kind, state[name]);
    } catch (error) {
      throw error instanceof Mismatch ? new TypeError(`attribute \`${name}\` ${error.message}`) : error;
    }
  });
  server.names = [...kinds.keys()];
  const payload = {
    flow: "flow",
    wid: 1,
    trigger: "trigger",
    transition: made.name,
    attempt: 1,
    deadline: server.now() + 60_000_000n,
    ...job,
    state: values,
  };
  const { tag, val } = perform(made, payload, server);
  switch (tag) {
    case "set-clause":
      return { clause: val };
    case "assignments": {
      const names = [...(made.writes?.keys() ?? [])];
      return { values: Object.fromEntries(val.map(({ attribute, value }) => [names[attribute], read(value)])) };
    }
    case "abort":
      return { aborted: val.reason, after: val.after === undefined ? undefined : Number(val.after) / 1000 };
    default:
      return { failed: val.message, retry: val.retry };
  }
}
