import { batchRefused, classify, type EnvelopeFacts, type Refusal, refused } from "./envelope-rules.js";
import { scanEnvelope } from "./envelope-scan.js";
import type { EnvelopeName } from "./envelope-values.js";
import { FramingError, isFramingError } from "./errors.js";
import { asBuffer } from "./json-bytes.js";
import { checkGrammar } from "./json-grammar.js";
import { readMaxDepth, treeRefusal } from "./json-tree.js";
import type { JsonArray, JsonObject, JsonValue } from "./json-value.js";
import { countMembers } from "./member-count.js";
import type { Message, MessageOptions, ParseOptions, RequestId, WireError } from "./message.js";
import { surveyText } from "./text-survey.js";
import { requireText } from "./utf8.js";

/**
 * Classifies and checks one message (JSON-RPC 2.0 §§ 4, 5), as `JSON.parse` made it. Members that JSON-RPC does not
 * know are kept.
 * @throws {FramingError} `BATCH_REFUSED`, `MESSAGE_INVALID`, `ID_INVALID` (also an integer beyond 2^53 - 1, which is
 * already rounded), `PARAMS_INVALID`, `JSON_TOO_DEEP`, `PROTO_KEY`; its `wireCode` and `requestId` are for the answer.
 */
export function readMessage(value: unknown, options?: MessageOptions): Message {
  return checkMessage(value, options, undefined);
}

/** `depth`: of the value, when it is known. */
function checkMessage(value: unknown, options: MessageOptions | undefined, depth: number | undefined): Message {
  if (Array.isArray(value)) throw batchRefused();
  if (!isObject(value)) throw new FramingError("MESSAGE_INVALID", "the message is not an object");
  const members = readMembers(value);
  const facts = readFacts(members);
  const kind = classify(facts);
  const refusal =
    typeof kind === "string" ? (paramsRefusal(facts, options) ?? treeRefusal(value, options, depth)) : kind;
  const id = isId(members.id) ? members.id : undefined;
  if (refusal !== undefined) throw refused(refusal, facts, id);
  return toMessage(value, members, id);
}

/**
 * Reads one message from a frame's bytes: UTF-8, JSON, then `readMessage`.
 * @throws {FramingError} as `readMessage`, and `FRAME_NOT_UTF8`, `FRAME_HAS_BOM`, `FRAME_NOT_JSON`, `DUPLICATE_KEY`.
 */
export function parseMessage(frame: Uint8Array, options?: ParseOptions): Message {
  const bytes = asBuffer(frame);
  requireText(bytes);
  const value = parseJson(bytes);
  const { members, depth } = surveyText(bytes);
  // Counting costs a tenth of looking for the place, and nearly every message has none. One that is too deep is refused for that.
  if (options?.duplicateKeys === "refuse" && depth <= readMaxDepth(options) && members !== countMembers(value, depth)) {
    refuseDuplicates(bytes);
  }
  return checkMessage(value, options, depth);
}

/** Finds the key that is there twice, and whose request it is in, so that its sender gets an answer. */
function refuseDuplicates(bytes: Buffer): void {
  try {
    checkGrammar(bytes, { refuseDuplicates: true });
  } catch (error) {
    if (!isFramingError(error)) throw error;
    throw new FramingError(error.code, error.message, { offset: error.offset, requestId: requestIdOf(bytes) });
  }
}

function requestIdOf(bytes: Buffer): RequestId | undefined {
  try {
    const { kind, id } = scanEnvelope(bytes, [], { duplicateKeys: "refuse" });
    return kind === "request" ? id?.value : undefined;
  } catch (error) {
    // The envelope itself is at fault: which of two ids would it be? The scan has decided that.
    if (isFramingError(error)) return error.requestId;
    throw error;
  }
}

function parseJson(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString("utf8", 0, bytes.length));
  } catch (error) {
    // Walked again for the place, and because V8's own message quotes the text, which may be secret.
    if (error instanceof SyntaxError) checkGrammar(bytes);
    throw error;
  }
}

/** The members that JSON-RPC knows. */
type KnownMembers = Readonly<Record<EnvelopeName, JsonValue | undefined>>;

/** Own members only: what a polluted prototype offers is not part of the message. */
function readMembers(value: JsonObject): KnownMembers {
  const own = (name: EnvelopeName): JsonValue | undefined => (Object.hasOwn(value, name) ? value[name] : undefined);
  return {
    jsonrpc: own("jsonrpc"),
    id: own("id"),
    method: own("method"),
    params: own("params"),
    result: own("result"),
    error: own("error"),
  };
}

function readFacts({ jsonrpc, id, method, params, result, error }: KnownMembers): EnvelopeFacts {
  return {
    version: jsonrpc === "2.0",
    id: id === undefined ? "absent" : id === null ? "null" : isId(id) ? "valid" : "invalid",
    method: method === undefined ? "absent" : typeof method === "string" && method !== "" ? "valid" : "invalid",
    params: params === undefined ? "absent" : isObject(params) ? "object" : Array.isArray(params) ? "array" : "invalid",
    result: result !== undefined,
    error: error === undefined ? "absent" : isWireError(error) ? "valid" : "invalid",
  };
}

function paramsRefusal(facts: EnvelopeFacts, options: MessageOptions | undefined): Refusal | undefined {
  if (facts.method === "absent" || facts.params !== "array" || options?.params !== "object") return undefined;
  return { code: "PARAMS_INVALID", message: '"params" is an array where an object is wanted' };
}

function toMessage(value: JsonObject, members: KnownMembers, id: RequestId | undefined): Message {
  const { method, params, result, error } = members;
  if (typeof method === "string") {
    const call = { method, params: isStructured(params) ? params : undefined, value };
    return id === undefined ? { kind: "notification", ...call } : { kind: "request", id, ...call };
  }
  if (isWireError(error)) return { kind: "error", id, error, value };
  if (id !== undefined && result !== undefined) return { kind: "response", id, result, value };
  throw new Error("a message was classified that is of no kind");
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isStructured(value: JsonValue | undefined): value is JsonObject | JsonArray {
  return typeof value === "object" && value !== null;
}

function isId(value: JsonValue | undefined): value is RequestId {
  return typeof value === "string" || (typeof value === "number" && Number.isSafeInteger(value));
}

function isWireError(value: JsonValue | undefined): value is JsonValue & WireError {
  return isObject(value) && Number.isInteger(value["code"]) && typeof value["message"] === "string";
}
