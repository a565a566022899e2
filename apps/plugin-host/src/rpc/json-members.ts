import type { JsonValue as FrameValue } from "@berth/jsonrpc-framing";
import type { JsonObject, JsonValue } from "@berth/venv-host/executor";

/** Thrown for a request that is not of its form; the message names the member, and never shows its value. */
export class RequestFault extends Error {
  override readonly name = "RequestFault";
  readonly code = "REQUEST_INVALID";
}

// Each reads one member of a request. @throws {RequestFault}

export function objectOf(value: FrameValue | JsonValue | undefined, at: string): JsonObject {
  if (isObject(value)) return value;
  throw new RequestFault(`${at} has to be an object`);
}

export function listOf(value: JsonValue | undefined, at: string): readonly JsonValue[] {
  if (value === undefined) return [];
  if (isList(value)) return value;
  throw new RequestFault(`${at} has to be a list`);
}

export function textOf(value: JsonValue | undefined, at: string): string | undefined {
  if (value === undefined || typeof value === "string") return value;
  throw new RequestFault(`${at} has to be a text`);
}

export function neededText(value: JsonValue | undefined, at: string): string {
  return textOf(value, at) ?? missing(at);
}

export function numberOf(value: JsonValue | undefined, at: string): number | undefined {
  if (value === undefined || typeof value === "number") return value;
  throw new RequestFault(`${at} has to be a number`);
}

export function flagOf(value: JsonValue | undefined, at: string): boolean | undefined {
  if (value === undefined || typeof value === "boolean") return value;
  throw new RequestFault(`${at} has to be true or false`);
}

export function textsOf(value: JsonValue | undefined, at: string): readonly string[] {
  return listOf(value, at).map((item) => neededText(item, at));
}

export function headersOf(value: JsonValue | undefined, at: string): Readonly<Record<string, string>> {
  if (value === undefined) return {};
  const entries = Object.entries(objectOf(value, at));
  return Object.fromEntries(entries.map(([name, text]) => [name, neededText(text, `${at}.${name.slice(0, 100)}`)]));
}

export function oneOf<T extends string>(value: JsonValue | undefined, known: readonly T[], at: string): T {
  const found = known.find((name) => name === value);
  if (found !== undefined) return found;
  throw new RequestFault(`${at} has to be one of ${known.join(", ")}`);
}

/** A misspelled member is a fault: left out in silence, a policy could be passed by. */
export function refuseOthers(given: JsonObject, known: readonly string[], at: string): void {
  const other = Object.keys(given).find((name) => !known.includes(name));
  if (other === undefined) return;
  throw new RequestFault(`${at} has no member ${other.slice(0, 100)}; there are ${known.join(", ")}`);
}

function missing(at: string): never {
  throw new RequestFault(`${at} is missing`);
}

function isObject(value: FrameValue | JsonValue | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isList(value: JsonValue): value is readonly JsonValue[] {
  return Array.isArray(value);
}
