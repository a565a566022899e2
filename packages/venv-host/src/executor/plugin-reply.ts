import { isPlainRecord, setMember } from "./bounded-json.js";
import { PluginHostError } from "./errors.js";
import { type HeaderMap, readHeaderMap } from "./extensions/header-map.js";
import type { JsonObject, JsonValue } from "./json.js";
import type { PluginReply, Violation } from "./plugin-call.js";

const MAX_RETRY_DELAY_MS = 86_400_000;

type Members = Readonly<Record<string, unknown>>;

/**
 * Reads an answer in wire form (CPEX fact sheet §§ 2.3 and 3): nulls are absent, what says nothing allows, and what denies
 * denies, however broken the rest of it is. Sizes are the executor's to check.
 * @throws {PluginHostError} `PROTOCOL_ERROR` naming the hook.
 */
export function readPluginReply(answer: unknown, hook: string): PluginReply {
  const refuse = (fault: string): PluginHostError =>
    new PluginHostError("PROTOCOL_ERROR", `answer to ${hook}: ${fault}`);
  if (!isPlainRecord(answer)) throw refuse("it is no object");
  const says = present(answer["continue_processing"]) ?? true;
  if (typeof says !== "boolean") throw refuse("continue_processing is neither true nor false");
  const violation = tryViolation(answer["violation"]);
  if (!says) return { ...NOTHING, continueProcessing: false, violation, metadata: tryObject(answer["metadata"]) };
  return {
    continueProcessing: true,
    modifiedPayload: readObject(answer, "modified_payload", refuse),
    modifiedExtensions: readObject(answer, "modified_extensions", refuse),
    violation,
    metadata: readObject(answer, "metadata", refuse),
    httpHeaders: readHeaders(answer["http_headers"], refuse),
    retryDelayMs: readDelay(answer["retry_delay_ms"], refuse),
    context: readContext(answer["context"], refuse),
  };
}

/** An answer that changes nothing. */
const NOTHING: PluginReply = {
  continueProcessing: true,
  modifiedPayload: undefined,
  modifiedExtensions: undefined,
  violation: undefined,
  metadata: undefined,
  httpHeaders: undefined,
  retryDelayMs: 0,
  context: undefined,
};

function present(value: unknown): unknown {
  return value === null ? undefined : value;
}

/** Whether members are JSON is seen when the executor copies them. */
function isObject(value: unknown): value is JsonObject {
  return isPlainRecord(value);
}

function tryObject(value: unknown): JsonObject | undefined {
  return isObject(value) ? value : undefined;
}

function readObject(members: Members, name: string, refuse: (fault: string) => Error): JsonObject | undefined {
  const value = present(members[name]);
  if (value === undefined || isObject(value)) return value;
  throw refuse(`${name} is no object`);
}

function readHeaders(value: unknown, refuse: (fault: string) => Error): HeaderMap | undefined {
  const given = present(value);
  if (given === undefined) return undefined;
  if (!isObject(given)) throw refuse("http_headers is no object");
  const reading = readHeaderMap(given);
  if (!reading.ok) throw refuse(`http_headers ${reading.fault}`);
  return reading.headers;
}

function readDelay(value: unknown, refuse: (fault: string) => Error): number {
  const delay = present(value) ?? 0;
  if (typeof delay === "number" && delay >= 0 && delay <= MAX_RETRY_DELAY_MS) return delay;
  throw refuse(`retry_delay_ms is no number from 0 to ${MAX_RETRY_DELAY_MS}`);
}

function readContext(value: unknown, refuse: (fault: string) => Error): PluginReply["context"] {
  const context = present(value);
  if (context === undefined) return undefined;
  if (!isPlainRecord(context)) throw refuse("context is no object");
  const shared = present(context["global_context"]);
  if (shared !== undefined && !isPlainRecord(shared)) throw refuse("context.global_context is no object");
  return {
    state: readObject(context, "state", refuse) ?? {},
    globalState: (shared === undefined ? undefined : readObject(shared, "state", refuse)) ?? {},
  };
}

/** Whatever of it can be used: an unreadable reason is no reason to let through what was denied. */
function tryViolation(value: unknown): Violation | undefined {
  if (!isPlainRecord(value)) return undefined;
  return {
    reason: textOf(value["reason"]),
    description: textOf(value["description"]),
    code: textOf(value["code"]),
    details: tryObject(value["details"]) ?? {},
    mcpErrorCode: wholeOf(value["mcp_error_code"]) ?? wholeOf(value["proto_error_code"]),
    httpStatusCode: statusOf(value["http_status_code"]),
    httpHeaders: headersOf(value["http_headers"]),
  };
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}

function wholeOf(value: unknown): number | undefined {
  return typeof value === "number" && Number.isSafeInteger(value) ? value : undefined;
}

function statusOf(value: unknown): number | undefined {
  const status = wholeOf(value);
  return status !== undefined && status >= 100 && status <= 599 ? status : undefined;
}

/** The headers of it that can be sent. */
function headersOf(value: unknown): HeaderMap | undefined {
  const given = tryObject(value);
  if (given === undefined) return undefined;
  const headers: Record<string, string> = {};
  for (const [name, text] of Object.entries(given)) {
    const one = readHeaderMap(single(name, text));
    if (one.ok) for (const [kept, sent] of Object.entries(one.headers)) setMember(headers, kept, sent);
  }
  return headers;
}

function single(name: string, value: JsonValue): JsonObject {
  const one: Record<string, JsonValue> = {};
  setMember(one, name, value);
  return one;
}
