import type { JsonObject, JsonValue } from "@berth/jsonrpc-framing";
import type { CodeFault, Display } from "../outcome.js";
import type { FileEntry, Variable } from "../session.js";

/** Something that the worker said which it never says by itself: its process is no longer only ours. */
export class WireFault extends Error {
  override readonly name = "WireFault";
}

/** What the worker answers to `execute`. */
export interface CallAnswer {
  readonly status: "ok" | "error" | "interrupted";
  readonly result: string | undefined;
  readonly fault: CodeFault | undefined;
  readonly cpuMs: number;
  /** Whole sizes, and how much of them was told. */
  readonly stdoutBytes: number;
  readonly stderrBytes: number;
  readonly stdoutKept: number;
  readonly stderrKept: number;
  readonly spill: string | undefined;
  readonly displaysDropped: number;
}

const maxText = 67_108_864;
const maxName = 1_000;
const maxPath = 16_384;
const maxForms = 64;

export function readObject(value: JsonValue | undefined): JsonObject {
  if (typeof value === "object" && value !== null && !isList(value)) return value;
  throw new WireFault("an object was expected");
}

/** `Array.isArray` does not narrow read-only arrays. */
function isList(value: JsonValue | undefined): value is readonly JsonValue[] {
  return Array.isArray(value);
}

export function readList(value: JsonValue | undefined, most: number): readonly JsonValue[] {
  if (isList(value) && value.length <= most) return value;
  throw new WireFault(`a list of at most ${most} was expected`);
}

/** Without lone surrogates, which no encoding can say. */
export function readText(value: JsonValue | undefined, most: number = maxText): string {
  if (typeof value === "string" && value.length <= most) return value.toWellFormed();
  throw new WireFault(`a text of at most ${most} characters was expected`);
}

export function readCount(value: JsonValue | undefined): number {
  if (typeof value === "number" && Number.isSafeInteger(value) && value >= 0) return value;
  throw new WireFault("a whole number was expected");
}

function readOptional<T>(value: JsonValue | undefined, read: (value: JsonValue) => T): T | undefined {
  return value === null || value === undefined ? undefined : read(value);
}

function readOneOf<T extends string>(value: JsonValue | undefined, choices: readonly T[]): T {
  const choice = choices.find((known) => known === value);
  if (choice !== undefined) return choice;
  throw new WireFault(`one of ${choices.join(", ")} was expected`);
}

export function readAnswer(value: JsonValue): CallAnswer {
  const answer = readObject(value);
  const { cpuMs } = answer;
  if (typeof cpuMs !== "number" || !(cpuMs >= 0)) throw new WireFault("a time was expected");
  return {
    status: readOneOf(answer["status"], ["ok", "error", "interrupted"]),
    result: readOptional(answer["result"], (text) => readText(text)),
    fault: readOptional(answer["fault"], readFault),
    cpuMs,
    stdoutBytes: readCount(answer["stdoutBytes"]),
    stderrBytes: readCount(answer["stderrBytes"]),
    stdoutKept: readCount(answer["stdoutKept"]),
    stderrKept: readCount(answer["stderrKept"]),
    spill: readOptional(answer["spill"], (path) => readText(path, maxPath)),
    displaysDropped: readCount(answer["displaysDropped"]),
  };
}

function readFault(value: JsonValue): CodeFault {
  const fault = readObject(value);
  const [name, message, traceback] = [fault["name"], fault["message"], fault["traceback"]].map((text) =>
    readText(text),
  );
  return { name: name ?? "", message: message ?? "", traceback: traceback ?? "" };
}

/** A display, and the size of its forms in characters. */
export function readDisplay(params: JsonObject): { readonly display: Display; readonly chars: number } {
  const forms = Object.entries(readObject(params["data"]));
  if (forms.length === 0 || forms.length > maxForms) throw new WireFault(`a display with ${forms.length} forms`);
  const data: Record<string, string> = Object.create(null);
  let chars = 0;
  for (const [type, form] of forms) {
    const text = readText(form);
    chars += text.length;
    data[readText(type, maxName)] = text;
  }
  return { display: { kind: readOneOf(params["kind"], ["display", "result"]), data: { ...data } }, chars };
}

export function readStream(value: JsonValue | undefined): "stdout" | "stderr" {
  if (value === 1) return "stdout";
  if (value === 2) return "stderr";
  throw new WireFault("stream 1 or 2 was expected");
}

export function readVariable(value: JsonValue): Variable {
  const variable = readObject(value);
  return {
    name: readText(variable["name"], maxName),
    type: readText(variable["type"], maxName),
    preview: readText(variable["preview"], maxName),
    sizeBytes: readOptional(variable["size"], readCount),
  };
}

export function readEntry(value: JsonValue | undefined): FileEntry {
  const entry = readObject(value);
  const modifiedAt = entry["modifiedAt"];
  if (typeof modifiedAt !== "number" || !Number.isSafeInteger(modifiedAt)) throw new WireFault("a time was expected");
  return {
    path: readText(entry["path"], maxPath),
    kind: readOneOf(entry["kind"], ["file", "folder", "link", "other"]),
    bytes: readCount(entry["bytes"]),
    modifiedAt,
  };
}
