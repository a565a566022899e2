import type { Subject } from "../subject.js";

/** One thing that a client does with the interop server, and what it must see of it. Features of one client share its connection. */
export interface Feature {
  /** As the matrix calls it. */
  readonly name: string;
  run(subject: Subject): Promise<void>;
}

/** The text of a result's first block. */
export function textOf(result: unknown): string {
  return String(Object(Object(result).content?.[0]).text);
}

export function parsed(result: unknown): unknown {
  return JSON.parse(textOf(result));
}
