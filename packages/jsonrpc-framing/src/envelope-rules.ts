import { FramingError, type FramingErrorCode } from "./errors.js";
import type { RequestId } from "./message.js";

/** What the members of a message are, however they were found: in a parsed value, a frame, or bytes going by. */
export interface EnvelopeFacts {
  /** Whether `jsonrpc` is "2.0". */
  readonly version: boolean;
  readonly id: "absent" | "valid" | "null" | "invalid";
  readonly method: "absent" | "valid" | "invalid";
  readonly params: "absent" | "object" | "array" | "invalid";
  readonly result: boolean;
  readonly error: "absent" | "valid" | "invalid";
}

/** The four kinds of message. */
export type MessageKind = "request" | "notification" | "response" | "error";

/** Why a message is refused. */
export interface Refusal {
  readonly code: FramingErrorCode;
  readonly message: string;
}

/** The kind of a message (JSON-RPC 2.0 §§ 4, 5), or why it is none. */
export function classify(facts: EnvelopeFacts): MessageKind | Refusal {
  if (!facts.version) return invalid('"jsonrpc" is not "2.0"');
  if (facts.method !== "absent") return classifyCall(facts);
  if (facts.result && facts.error !== "absent") return invalid('both "result" and "error" are present');
  if (facts.result) return facts.id === "valid" ? "response" : badId(facts);
  if (facts.error === "absent") return invalid('none of "method", "result" and "error" is present');
  if (facts.id === "invalid") return badId(facts);
  return facts.error === "valid" ? "error" : invalid('"error" is not an object with an integer "code" and a "message"');
}

function classifyCall(facts: EnvelopeFacts): MessageKind | Refusal {
  if (facts.method === "invalid") return invalid('"method" is not a string of at least one character');
  if (facts.result || facts.error !== "absent") return invalid('"method" stands beside "result" or "error"');
  if (facts.params === "invalid") return invalid('"params" is neither an object nor an array');
  if (facts.id === "absent") return "notification";
  return facts.id === "valid" ? "request" : badId(facts);
}

function invalid(message: string): Refusal {
  return { code: "MESSAGE_INVALID", message };
}

function badId(facts: EnvelopeFacts): Refusal {
  const what = facts.id === "absent" ? "is absent" : facts.id === "null" ? "is null" : "is not a string or an integer";
  return { code: "ID_INVALID", message: `"id" ${what}` };
}

/** The error for a refusal; it names the id if the message may be a request that waits for an answer. */
export function refused(refusal: Refusal, facts: EnvelopeFacts, id: RequestId | undefined): FramingError {
  const mayBeRequest = !facts.result && facts.error === "absent";
  return new FramingError(refusal.code, refusal.message, { requestId: mayBeRequest ? id : undefined });
}

/** The error for a batch: an array of messages, which no revision of MCP since 2025-06-18 allows. */
export function batchRefused(): FramingError {
  return new FramingError("BATCH_REFUSED", "an array of messages (a batch) is not accepted");
}
