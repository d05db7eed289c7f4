/** The component's side: what the build exports as `describe` and `run`. */

import * as files from "wed:flow/files@0.1.0";
import * as host from "wed:flow/host@0.1.0";
import * as http from "wed:flow/http@0.1.0";
import { Fail, sql } from "./outcome.js";
import { exported, nameOfComponent, perform, transition } from "./transition.js";
import { VERSION } from "./version.js";

/** The contract's functions, as the SDK asks for them. */
const server = { ...host, files, http };

const wide = (number) => (number === undefined ? undefined : BigInt(number));
const attributes = (kinds) => kinds && [...kinds].map(([name, kind]) => ({ name, kind: kind.name }));

/** The contract's two functions for a module of transitions. */
export function world(module) {
  const transitions = exported(module);
  languageFromServer();
  warmUp();
  return {
    describe: () => ({
      name: nameOfComponent(),
      sdk: `js ${VERSION}`,
      transitions: [...transitions.values()].map((made) => ({
        transition: made.name,
        description: made.description,
        reads: attributes(made.reads),
        writes: attributes(made.writes),
        condition: made.condition,
        timeout: wide(made.timeout),
        fuel: wide(made.fuel),
        memory: wide(made.memory),
      })),
    }),
    run(payload) {
      const made = transitions.get(payload.transition);
      if (!made) {
        return { tag: "fail", val: { message: `this component has no transition \`${payload.transition}\``, retry: false } };
      }
      return perform(made, payload, server);
    },
  };
}

/**
 * Performs transitions of no consequence while the component is built: what the engine compiles at the first
 * use of a function, or remembers of it, is then a part of what every call begins with.
 */
function warmUp() {
  const scalars = {
    text: "x",
    integer: 1,
    bigint: 1n,
    numeric: "1.5",
    float: 1.5,
    boolean: true,
    timestamptz: 1n,
    date: 1,
    interval: "P1D",
    uuid: "00000000-0000-0000-0000-000000000000",
    jsonb: "{}",
  };
  const kinds = Object.keys(scalars);
  const types = Object.fromEntries([...kinds.map((kind) => [kind, `${kind}?`]), ["list", "text[]"]]);
  const state = [...kinds.map((kind) => ({ tag: "scalar", val: { tag: kind, val: scalars[kind] } })), { tag: "list", val: [{ tag: "text", val: "x" }] }];
  const server = { log() {} };
  const answers = [
    (given, asked) => {
      asked.log.info("x", { x: "x" });
      return { ...given };
    },
    (given) => ({ ...given, text: sql`${given.text}` }),
    (given) => sql`text = ${given.text}`,
    () => "text = 'x'",
    () => {
      throw new Fail("x");
    },
  ];
  for (const answer of answers) {
    const made = transition({ name: "x", reads: types, writes: types }, answer);
    for (let n = 0; n < 3; n++) {
      perform(made, { flow: "x", wid: 1, trigger: "x", transition: "x", attempt: 1, deadline: 1n, state }, server);
    }
  }
}

/** The clock, the random numbers and the console of the language are the server's. */
function languageFromServer() {
  const millis = () => Number(host.now() / 1000n);
  const Plain = Date;
  globalThis.Date = class Date extends Plain {
    constructor(...given) {
      if (given.length) super(...given);
      else super(millis());
    }
    static now() {
      return millis();
    }
  };
  Math.random = () => Number(host.random() >> 11n) / 2 ** 53;
  const fill = (array) => {
    const bytes = new Uint8Array(array.buffer, array.byteOffset, array.byteLength);
    for (let at = 0; at < bytes.length; at += 8) {
      let drawn = host.random();
      for (let byte = at; byte < Math.min(at + 8, bytes.length); byte++, drawn >>= 8n) bytes[byte] = Number(drawn & 255n);
    }
    return array;
  };
  const uuid = () => {
    const bytes = fill(new Uint8Array(16));
    bytes[6] = (bytes[6] & 0x0f) | 0x40;
    bytes[8] = (bytes[8] & 0x3f) | 0x80;
    const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
    return hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-");
  };
  Object.defineProperty(globalThis, "crypto", { value: { getRandomValues: fill, randomUUID: uuid }, configurable: true, writable: true });
  const text = (value) => {
    if (typeof value === "string") return value;
    if (value instanceof Error) return `${value}\n${value.stack ?? ""}`;
    try {
      return typeof value === "object" ? JSON.stringify(value) : String(value);
    } catch {
      return String(value);
    }
  };
  const line = (severity) => (...values) => host.log(severity, values.map(text).join(" ").replace(/[\ud800-\udfff]/gu, "\ufffd"), []);
  const console = { debug: line("debug"), trace: line("debug"), log: line("info"), info: line("info"), warn: line("warn"), error: line("error") };
  Object.defineProperty(globalThis, "console", { value: console, configurable: true, writable: true });
  // There is no event loop and no network: what needs them says so instead of doing nothing.
  for (const name of ["setTimeout", "setInterval", "fetch", "queueMicrotask"]) {
    globalThis[name] = () => {
      throw new TypeError(`${name} is not there: a transition is one synchronous call; see host.sleep`);
    };
  }
}
