/** Transitions: what they declare, and how one is performed. */

import { kindOf } from "./kind.js";
import { Abort, FetchError, Fail, FileError, Secret, Sql } from "./outcome.js";
import { Mismatch, Timestamp, literal, literalOf, read, shown, write } from "./values.js";

/** Characters of an unexpected error's stack that are kept. */
const MESSAGE_CHARACTERS = 8_000;

/** A function with what it declares. */
export class Transition {
  constructor(options, perform) {
    const { name, description = "", reads, writes, condition, timeout, fuel, memory, ...unknown } = options;
    if (Object.keys(unknown).length) throw new TypeError(`transition${name ? ` \`${name}\`` : ""}: there is no option ${Object.keys(unknown).join(", ")}`);
    if (typeof perform !== "function") throw new TypeError("a transition is made of options and a function: transition({ … }, (state, host) => …)");
    this.name = name ?? "";
    this.description = description;
    this.reads = reads && kinds("reads", reads);
    this.writes = writes && kinds("writes", writes);
    // What each call would else compute anew.
    this.names = this.reads && [...this.reads.keys()];
    this.required = new Set(this.reads && this.names.filter((name) => !this.reads.get(name).nullable && this.reads.get(name).scalar !== "any"));
    this.condition = condition;
    this.timeout = timeout;
    this.fuel = fuel;
    this.memory = memory;
    this.perform = perform;
  }
}

function kinds(list, declared) {
  return new Map(
    Object.entries(declared).map(([name, kind]) => {
      try {
        return [name, kindOf(kind)];
      } catch (error) {
        throw new TypeError(`${list} \`${name}\`: ${error.message}`);
      }
    }),
  );
}

/** Makes a transition of a function. Its name is `name`, or what the module exports it as. */
export function transition(options, perform) {
  return new Transition(options, perform);
}

let componentName = "";

/** Says under which name the component wants to be stored; without it, the file's. */
export function component({ name }) {
  componentName = name;
}

/** The name that was asked for, or nothing. */
export function nameOfComponent() {
  return componentName;
}

/** The transitions that a module exports, by name. */
export function exported(module) {
  const found = new Map();
  for (const [key, value] of Object.entries(module)) {
    if (!(value instanceof Transition)) continue;
    value.name ||= key;
    if (found.has(value.name)) throw new TypeError(`there are two transitions \`${value.name}\``);
    found.set(value.name, value);
  }
  if (!found.size) throw new TypeError("the module exports no transition: export const pack = transition({ … }, (state, host) => …)");
  return found;
}

/** What a transition is handed beside the state. `server` answers as the contract's host does. */
export class Host {
  #server;
  #deadline;
  #log;

  constructor(server, job) {
    this.#server = server;
    this.#deadline = job.deadline;
    this.flow = job.flow;
    this.wid = job.wid;
    this.trigger = job.trigger;
    this.transition = job.transition;
    this.attempt = job.attempt;
  }

  // What many transitions never look at is made when it is.

  /** When the time limit ends. */
  get deadline() {
    return new Timestamp(this.#deadline);
  }

  /** Writes log lines: `log.info(message, fields)`, and `debug`, `warn`, `error`. */
  get log() {
    if (!this.#log) {
      const line = (severity) => (message, fields = {}) =>
        this.#server.log(severity, wellFormed(message), Object.entries(fields).map(([key, value]) => ({ key, value: wellFormed(value) })));
      this.#log = { debug: line("debug"), info: line("info"), warn: line("warn"), error: line("error") };
    }
    return this.#log;
  }

  /** The server's time. */
  now() {
    return new Timestamp(this.#server.now());
  }

  /** Milliseconds that are left; negative when the time is over. */
  remaining() {
    return this.deadline - this.now();
  }

  /** 64 random bits. */
  random() {
    return this.#server.random();
  }

  /** A random whole number from 0 to `bound` - 1, each as likely. */
  randomBelow(bound) {
    if (!Number.isSafeInteger(bound) || bound < 1) throw new RangeError(`a whole number from 1 is needed, not ${bound}`);
    const wide = BigInt(bound);
    const limit = 2n ** 64n - (2n ** 64n % wide);
    for (;;) {
      const drawn = this.#server.random();
      if (drawn < limit) return Number(drawn % wide);
    }
  }

  /** Waits, for milliseconds. */
  sleep(milliseconds) {
    this.#server.sleep(BigInt(Math.max(0, Math.round(milliseconds * 1000))));
  }

  /** A setting of the flow; undefined when it has not been set. */
  config(key) {
    return this.#server.config(key);
  }

  /** The files of the instance, where they are granted. */
  get files() {
    return new Files(this.#server.files);
  }

  /** Sends a request and waits for the answer: `fetch(url, { method, headers, body })`. A header's value may be a `Secret`. */
  fetch(url, { method = "GET", headers = {}, body = "" } = {}) {
    const given = Object.entries(headers).map(([name, value]) =>
      value instanceof Secret ? { name, value: value.before, secret: value.name } : { name, value: String(value), secret: undefined },
    );
    return new Response(asked(FetchError, () => this.#server.http.fetch({ method, url, headers: given, body: bytes(body) })));
  }

  /** Names what fired this transition: the same in every attempt at it, another in every other firing. */
  key() {
    return this.#server.http.key();
  }

  /** A secret of the flow; undefined when there is none or it is not granted to this transition. */
  secret(name) {
    return this.#server.secret(name);
  }
}

/** The files of the instance. */
class Files {
  #files;

  constructor(files) {
    this.#files = files;
  }

  /** The content of a file; undefined when there is no such file. */
  read(name) {
    return asked(FileError, () => this.#files.read(name));
  }

  /** The same as text. */
  readText(name) {
    const content = this.read(name);
    return content && new TextDecoder().decode(content);
  }

  /** Makes a file, or replaces its content. A text is written in UTF-8. */
  write(name, content) {
    asked(FileError, () => this.#files.write(name, bytes(content)));
  }

  /** Puts more behind a file's content, or makes the file. */
  append(name, content) {
    asked(FileError, () => this.#files.append(name, bytes(content)));
  }

  /** Removes a file; whether there was one. */
  remove(name) {
    return asked(FileError, () => this.#files.remove(name));
  }

  /** All files: `{ name, size }`. */
  all() {
    return asked(FileError, () => this.#files.all()).map(({ name, size }) => ({ name, size: Number(size) }));
  }
}

/** An answer, whatever its status. */
class Response {
  constructor({ status, headers, body }) {
    this.status = status;
    /** `[name, value]`, names in small letters. */
    this.headers = headers;
    this.body = body;
  }

  /** A header's value, by its name in small letters. */
  header(name) {
    return this.headers.find(([known]) => known === name)?.[1];
  }

  /** The body as text. */
  text() {
    return new TextDecoder().decode(this.body);
  }

  /** The body as JSON. */
  json() {
    return JSON.parse(this.text());
  }
}

function bytes(content) {
  return typeof content === "string" ? new TextEncoder().encode(content) : new Uint8Array(content);
}

/** Calls the server; a refusal of its becomes an error of ours. */
function asked(Refusal, call) {
  try {
    return call();
  } catch (error) {
    const { kind, message } = error?.payload ?? {};
    throw kind ? new Refusal(kind, message) : error;
  }
}

/** A text for the server: half a surrogate pair has no UTF-8. */
function wellFormed(value) {
  return String(value).replace(/[\ud800-\udfff]/gu, "\ufffd");
}

/** Performs a transition for the server: a payload of the contract in, an outcome of it out. */
export function perform(made, payload, server) {
  try {
    const state = stateOf(made, made.names ?? server.attributes(), payload.state);
    return answer(made, made.perform(state, new Host(server, payload)));
  } catch (error) {
    return failure(error);
  }
}

/** A name that is not read is a mistake, not undefined. */
const KNOWN_NAMES = {
  get(state, name) {
    if (typeof name === "string" && !(name in state) && name !== "toJSON" && name !== "then") {
      throw new TypeError(`the transition does not read \`${name}\`; it reads ${Object.keys(state).join(", ") || "nothing"}`);
    }
    return state[name];
  },
};

function stateOf(made, names, values) {
  const state = Object.create(null);
  for (let at = 0; at < names.length; at++) {
    const name = names[at];
    const value = read(values[at]);
    if (value === null && made.required.has(name)) {
      throw new Fail(`attribute \`${name}\` is null, and the transition does not expect that; declare "${made.reads.get(name).name}?"`);
    }
    state[name] = value;
  }
  return new Proxy(state, KNOWN_NAMES);
}

function answer(made, answered) {
  if (answered instanceof Sql) return { tag: "set-clause", val: answered.text };
  if (typeof answered === "string") return { tag: "set-clause", val: answered };
  if (typeof answered?.then === "function") {
    throw new Fail("the transition is asynchronous, which it must not be: host.sleep and the rest wait by themselves");
  }
  if (answered !== undefined && answered !== null && (typeof answered !== "object" || Array.isArray(answered))) {
    throw new Fail(`the transition answered ${shown(answered)}; it must answer an object of attributes and values, a SET clause, or nothing`);
  }
  const set = Object.entries(answered ?? {});
  if (made.writes) {
    for (const [name] of set) {
      if (!made.writes.has(name)) {
        throw new Fail(`the transition sets \`${name}\`, which it does not declare; \`writes\` names ${[...made.writes.keys()].join(", ") || "nothing"}`);
      }
    }
    if (!set.some(([, value]) => value instanceof Sql)) {
      const positions = [...made.writes.keys()];
      return {
        tag: "assignments",
        val: set.map(([name, value]) => ({ attribute: positions.indexOf(name), value: of(name, () => write(made.writes.get(name), value)) })),
      };
    }
  }
  if (!set.length) return { tag: "assignments", val: [] };
  const parts = set.map(([name, value]) => {
    const text = of(name, () =>
      value instanceof Sql ? value.text : made.writes ? literalOf(made.writes.get(name), value) : literal(value),
    );
    return `"${name.replaceAll('"', '""')}" = ${text}`;
  });
  return { tag: "set-clause", val: parts.join(", ") };
}

function of(name, work) {
  try {
    return work();
  } catch (error) {
    if (error instanceof Mismatch || error instanceof TypeError) throw new Fail(`attribute \`${name}\` ${error.message}`);
    throw error;
  }
}

function failure(error) {
  if (error instanceof Abort) {
    const after = error.after === undefined ? undefined : BigInt(Math.round(error.after * 1000));
    return { tag: "abort", val: { reason: wellFormed(error.message), after } };
  }
  if (error instanceof Fail) return { tag: "fail", val: { message: wellFormed(error.message), retry: error.retry } };
  let text = typeof error === "string" ? error : shown(error);
  if (error instanceof Error) {
    // Some engines put the message before the frames, some do not; the frames of the SDK's glue say nothing.
    const frames = String(error.stack ?? "").split("\n").filter((line) => !/initializer\.js|^\s*$/.test(line));
    const said = String(error);
    text = [said, ...frames.filter((line) => !said.split("\n").includes(line))].join("\n");
    for (let cause = error.cause; cause instanceof Error && text.length < MESSAGE_CHARACTERS; cause = cause.cause) text += `\ncaused by ${cause}\n${cause.stack ?? ""}`;
  }
  if (text.length > MESSAGE_CHARACTERS) text = `${text.slice(0, MESSAGE_CHARACTERS)}…`;
  return { tag: "fail", val: { message: wellFormed(text), retry: true } };
}
