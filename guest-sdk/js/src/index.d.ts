/** A point in time, to the microsecond; `infinity` and `-infinity` are after and before all others. */
export declare class Timestamp {
  /** From microseconds since 1970-01-01T00:00:00Z. */
  constructor(microseconds: bigint);
  static readonly INFINITY: Timestamp;
  static readonly NEGATIVE_INFINITY: Timestamp;
  /** From a Date, an ISO 8601 text with its offset, or a Temporal.Instant. */
  static from(value: Timestamp | Date | string | { readonly epochNanoseconds: bigint }): Timestamp;
  /** Microseconds since 1970-01-01T00:00:00Z. */
  readonly microseconds: bigint;
  readonly isFinite: boolean;
  /** As a Date, which has milliseconds; throws when it is infinite. */
  toDate(): Date;
  /** Milliseconds since 1970. */
  valueOf(): number;
  toString(): string;
  toJSON(): string;
}

/** A JSON value: its text, to the digit, and what JavaScript makes of it. */
export declare class Json<T = any> {
  constructor(text: string);
  static of<T>(value: T): Json<T>;
  readonly text: string;
  /** Parsed when first asked for; numbers are doubles. */
  readonly value: T;
}

/** Throw it to commit nothing and be tried again later, after `after` milliseconds at the earliest. */
export declare class Abort extends Error {
  constructor(reason: string, options?: { after?: number });
  readonly after?: number;
}

/** Throw it when no further attempt can help: the instance becomes an exception at once. */
export declare class Fail extends Error {
  readonly retry: boolean;
}

/** Throw it when it failed and another attempt may succeed. */
export declare class Retry extends Fail {}

/** SQL, with its values written as literals. */
export declare class Sql {
  readonly text: string;
}

/**
 * A SQL expression, evaluated on the state as it is when the transition commits; what stands in `${}`
 * becomes a literal of its type, never SQL. Returned alone it is the whole SET clause.
 */
export declare function sql(strings: TemplateStringsArray, ...values: unknown[]): Sql;

interface Read {
  text: string;
  integer: number;
  bigint: bigint;
  /** As digits, so that nothing is rounded. */
  numeric: string;
  float: number;
  boolean: boolean;
  timestamptz: Timestamp;
  /** As in `2026-11-21`; `infinity` and `-infinity`. */
  date: string;
  /** ISO 8601, as in `P1DT2H`. */
  interval: string;
  uuid: string;
  jsonb: Json;
  any: any;
}

interface Written {
  text: string;
  integer: number | bigint;
  bigint: bigint | number;
  numeric: string | number | bigint;
  float: number;
  boolean: boolean;
  timestamptz: Timestamp | Date | string | { readonly epochNanoseconds: bigint };
  date: string | { readonly daysInMonth: number; toString(): string };
  interval: string | { readonly sign: number; toString(): string };
  uuid: string;
  jsonb: unknown;
  any: unknown;
}

type Labels<L extends string> = L extends `${infer First},${infer Rest}` ? Trim<First> | Labels<Rest> : Trim<L>;
type Trim<S extends string> = S extends ` ${infer Rest}` ? Trim<Rest> : S extends `${infer Rest} ` ? Trim<Rest> : S;

type ScalarName = keyof Read;
type EnumName = `enum(${string})`;
type Base = ScalarName | EnumName;
/** An attribute's type as the flow names it; `?` where it may be null. */
export type Kind = Base | `${Base}[]` | `${Base}?` | `${Base}[]?`;

type ScalarOf<K extends string, Types> = K extends keyof Types ? Types[K] : K extends `enum(${infer L})` ? Labels<L> : never;
type ReadOf<K extends string> = K extends `${infer B}?`
  ? ReadOf<B> | null
  : K extends `${infer B}[]`
    ? (ScalarOf<B, Read> | null)[]
    : ScalarOf<K, Read>;
type WriteOf<K extends string> = K extends `${infer B}?`
  ? WriteOf<B>
  : K extends `${infer B}[]`
    ? (ScalarOf<B, Written> | null)[] | null
    : ScalarOf<K, Written> | null;

/** The state that a transition is handed. */
export type State<R> = string extends keyof R ? Readonly<Record<string, any>> : { readonly [N in keyof R]: R[N] extends string ? ReadOf<R[N]> : never };
/** What it may set. */
export type Change<W> = string extends keyof W ? Record<string, unknown> : { [N in keyof W]?: (W[N] extends string ? WriteOf<W[N]> : never) | Sql };

/** Writes a log line, kept with the attempt. */
export type Log = (message: string, fields?: Record<string, unknown>) => void;

/** What a transition is handed beside the state. */
export interface Host {
  /** The flow's name. */
  readonly flow: string;
  /** The instance. */
  readonly wid: number;
  /** The trigger that fired, by name; its number as text where it has none. */
  readonly trigger: string;
  readonly transition: string;
  /** 1 for the first attempt. */
  readonly attempt: number;
  /** When the time limit ends. */
  readonly deadline: Timestamp;
  readonly log: { readonly debug: Log; readonly info: Log; readonly warn: Log; readonly error: Log };
  /** The server's time. */
  now(): Timestamp;
  /** Milliseconds that are left; negative when the time is over. */
  remaining(): number;
  /** 64 random bits. */
  random(): bigint;
  /** A random whole number from 0 to `bound` - 1, each as likely. */
  randomBelow(bound: number): number;
  /** Waits, for milliseconds. The time counts against the timeout. */
  sleep(milliseconds: number): void;
  /** A setting of the flow; undefined when it has not been set. */
  config(key: string): string | undefined;
  /** A secret of the flow; undefined when there is none or it is not granted to this transition. */
  secret(name: string): string | undefined;
  /** The files of the instance, where operator and flow grant them. */
  readonly files: Files;
  /** Sends a request, to a host that operator and flow both name, and waits for the answer. */
  fetch(url: string, options?: { method?: string; headers?: Record<string, string | Secret>; body?: string | Uint8Array }): Response;
  /** Names what fired this transition: the same in every attempt at it, another in every other firing. */
  key(): string;
}

/** A private folder of the instance. What an attempt writes stays only if its result is committed. */
export interface Files {
  /** The content of a file; undefined when there is no such file. */
  read(name: string): Uint8Array | undefined;
  readText(name: string): string | undefined;
  /** Makes a file, or replaces its content: at most 1 MiB. */
  write(name: string, content: string | Uint8Array): void;
  append(name: string, content: string | Uint8Array): void;
  /** Removes a file; whether there was one. */
  remove(name: string): boolean;
  all(): { name: string; size: number }[];
}

/** An answer, whatever its status. */
export interface Response {
  readonly status: number;
  /** Names in small letters, and values. */
  readonly headers: [string, string][];
  readonly body: Uint8Array;
  header(name: string): string | undefined;
  text(): string;
  json(): any;
}

/** Why a file is not read or written. */
export declare class FileError extends Fail {
  readonly kind: "denied" | "name" | "no-room" | "unavailable";
}

/** Why there is no answer. */
export declare class FetchError extends Fail {
  readonly kind: "denied" | "invalid" | "too-large" | "unreachable" | "timed-out";
}

/** A header's value that ends with a secret of the flow, which the server puts there. */
export declare class Secret {
  constructor(name: string, before?: string);
  readonly name: string;
  readonly before: string;
}

export interface Options<R, W> {
  /** Its name, as in `wed_trig.trname`; without it, what the module exports it as. */
  name?: string;
  /** What it is for, in a sentence. */
  description?: string;
  /** The attributes it reads, with types; without it, every attribute of the flow. */
  reads?: R;
  /** The attributes it may set, with types; without it, any, by a SET clause. */
  writes?: W;
  /** Suggestions for the flow's owner: a condition, milliseconds, fuel, bytes. */
  condition?: string;
  timeout?: number;
  fuel?: number;
  memory?: number;
}

/** A function with what it declares. */
export interface Transition<R = any, W = any> {
  readonly name: string;
  readonly perform: (state: State<R>, host: Host) => Change<W> | Sql | string | void | null;
}

/**
 * Makes a transition of a function. It answers an object of attributes and new values, where a value
 * may be SQL; SQL or a string that is a whole SET clause; or nothing, which changes nothing.
 */
export declare function transition<
  const R extends Record<string, Kind> = Record<string, any>,
  const W extends Record<string, Kind> = Record<string, any>,
>(options: Options<R, W>, perform: (state: State<R>, host: Host) => Change<W> | Sql | string | void | null): Transition<R, W>;

/** Says under which name the component wants to be stored; without it, the file's. */
export declare function component(options: { name: string }): void;
