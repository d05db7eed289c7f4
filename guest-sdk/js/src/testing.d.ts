import type { Timestamp, Transition } from "./index.js";

export interface LogLine {
  severity: "debug" | "info" | "warn" | "error";
  message: string;
  fields: Record<string, string>;
}

/** Stands in for the server: a clock that moves only by sleeping and `advance`, repeatable random bits. */
export declare class Server {
  constructor(options?: {
    now?: Timestamp | Date | string;
    /** The first random numbers; repeatable ones follow. */
    random?: (bigint | number)[];
    seed?: bigint | number;
    config?: Record<string, string>;
    secrets?: Record<string, string>;
    /** Files that the instance has. */
    files?: Record<string, string | Uint8Array>;
    /** What requests are answered, in order. */
    answers?: ({ status?: number; headers?: Record<string, string>; body?: string | Uint8Array } | { kind: string; message: string })[];
  });
  /** The files as they are now. */
  readonly contents: Map<string, Uint8Array>;
  /** The requests that were sent. */
  readonly requests: { method: string; url: string; headers: { name: string; value: string; secret?: string }[]; body: Uint8Array }[];
  readonly logs: LogLine[];
  /** Milliseconds that were slept, in all. */
  readonly slept: number;
  /** Moves the clock, by milliseconds. */
  advance(milliseconds: number): void;
}

export interface Answer {
  /** The new values. */
  values?: Record<string, any>;
  /** The SET clause, where it answered with SQL. */
  clause?: string;
  /** The reason, where it aborted, and the milliseconds it asked to wait. */
  aborted?: string;
  after?: number;
  /** The message, where it failed, and whether another attempt may succeed. */
  failed?: string;
  retry?: boolean;
}

/** Invokes a transition on a state as the server does; what is not given is null. */
export declare function call(
  transition: Transition,
  state?: Record<string, unknown>,
  options?: { server?: Server; job?: Partial<{ flow: string; wid: number; trigger: string; attempt: number }> },
): Answer;
