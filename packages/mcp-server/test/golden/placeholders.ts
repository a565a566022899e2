import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { JsonValue } from "@berth/jsonrpc-framing";
import { folder } from "./transcript.js";

/** Named values that never change: what clients and server say in almost every message of 2026-07-28. */
const fixed: { readonly [name: string]: JsonValue } = JSON.parse(
  readFileSync(join(folder, "placeholders.json"), "utf8"),
);

/** What random values look like, by the first letters of their name: at least 128 bits, and of characters that need no escape. */
const random: { readonly [kind: string]: RegExp } = { session: /^[\x21-\x7e]{22,}$/, task: /^[\w-]{22,}$/ };

/**
 * The placeholders of one exchange. A text that is `{name}` and nothing else stands for a value: a fixed one, or a random one that is bound where it is
 * first seen and has to be the same from there on.
 */
export class Placeholders {
  readonly #bound: Map<string, JsonValue> = new Map(Object.entries(fixed));

  /** With every placeholder that has a value replaced. */
  expand(value: JsonValue): JsonValue {
    if (typeof value === "string") return this.#bound.get(nameOf(value) ?? "") ?? value;
    return mapChildren(value, (child) => this.expand(child));
  }

  /** Binds what `expected` names for the first time to what is there in `actual`. */
  bind(expected: JsonValue, actual: JsonValue | undefined): void {
    if (typeof expected === "string") {
      const name = nameOf(expected);
      const shape = random[(name ?? "").replace(/\d+$/, "")];
      if (name === undefined || this.#bound.has(name) || typeof actual !== "string") return;
      if (shape?.test(actual) === true) this.#bound.set(name, actual);
      return;
    }
    if (typeof expected !== "object" || expected === null || typeof actual !== "object" || actual === null) return;
    const values = new Map(Object.entries(actual));
    for (const [key, child] of Object.entries(expected)) this.bind(child ?? null, values.get(key));
  }

  /** For rewriting: what is there, with names for what has one. Ids of tasks are known by the member that holds them. */
  abstract(actual: JsonValue, member = ""): JsonValue {
    const known = [...this.#bound].find(([, value]) => JSON.stringify(value) === JSON.stringify(actual));
    if (known !== undefined) return `{${known[0]}}`;
    if (member === "taskId" && typeof actual === "string") return this.nameFor("task", actual);
    return mapChildren(actual, (child, key) => this.abstract(child, key));
  }

  /** For rewriting: the name of a random value, bound now if it is new. */
  nameFor(kind: "session" | "task", value: string): string {
    const known = [...this.#bound].find(([, one]) => one === value);
    if (known !== undefined) return `{${known[0]}}`;
    const count = [...this.#bound.keys()].filter((name) => name.startsWith(kind)).length;
    const name = count === 0 ? kind : `${kind}${count + 1}`;
    this.#bound.set(name, value);
    return `{${name}}`;
  }
}

function nameOf(text: string): string | undefined {
  return /^\{(\w+)\}$/.exec(text)?.[1];
}

function mapChildren(value: JsonValue, map: (child: JsonValue, key: string) => JsonValue): JsonValue {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map((child) => map(child, ""));
  return Object.fromEntries(Object.entries(value).map(([key, child]) => [key, map(child ?? null, key)]));
}
