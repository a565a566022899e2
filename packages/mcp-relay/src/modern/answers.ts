import {
  type Edit,
  type Envelope,
  readMember,
  readScalar,
  readString,
  type Span,
  spanType,
  splice,
  splitArray,
  wireErrors,
} from "@berth/jsonrpc-framing";
import { mcpErrors } from "@berth/mcp-server/protocol";
import { encodeText, replacing } from "../translate.js";
import { askingMethods } from "./calls-out.js";
import type { FrontParts } from "./front-parts.js";
import type { ModernCall } from "./modern-calls.js";
import { removals } from "./object-edits.js";
import type { Questions } from "./questions.js";

/** Members of results that older revisions do not know; some of their clients refuse a result that has them. */
const modernMembers: ReadonlySet<string> = new Set(["resultType", "ttlMs", "cacheScope"]);
/** Structured results and their schemas are objects before 2026-07-28: clients refuse a whole list over one that is not. */
const withStructured: ReadonlySet<string> = new Set([...modernMembers, "structuredContent"]);
const outputSchema: ReadonlySet<string> = new Set(["outputSchema"]);

/**
 * Answers of the server to calls, as the client gets them; undefined: it gets nothing now.
 * @throws {FramingError} `TOO_MANY_ITEMS`; the call is not over.
 */
export type TakeAnswer = (call: ModernCall, frame: Uint8Array, envelope: Envelope) => Uint8Array | undefined;

/** Results lose what older revisions do not know, and questions are asked; the rest stays to the byte. */
export function createAnswers({ calls, fail }: FrontParts, questions: Questions): TakeAnswer {
  return (call, frame, { id, result, error }) => {
    if (id === undefined) return undefined;
    if (result === undefined) {
      calls.drop(call);
      return splice(frame, [replacing(id, call.idBytes), ...missingResource(frame, error, call)]);
    }
    const type = resultType(frame, result);
    if (type === "input_required" && askingMethods.has(call.method)) {
      questions.take(call, frame, result);
      return undefined;
    }
    if (type !== "complete") {
      fail(call, `a result of ${call.method} of the type ${JSON.stringify(type.slice(0, 80))}`);
      return undefined;
    }
    const edits = spanType(frame, result) === "object" ? legacyEdits(frame, result, call) : [];
    calls.drop(call);
    return splice(frame, [replacing(id, call.idBytes), ...edits]);
  };
}

/** Absent means complete; what is no name of a type is none that is known (MCP 2026-07-28, § Results). */
function resultType(frame: Uint8Array, result: Span): string {
  const span = readMember(frame, result, ["resultType"]);
  return span === undefined ? "complete" : (readString(frame, span) ?? "no text");
}

function legacyEdits(frame: Uint8Array, result: Span, { method }: ModernCall): readonly Edit[] {
  if (method === "tools/list") return [...removals(frame, result, modernMembers), ...toolEdits(frame, result)];
  const structured = method === "tools/call" ? readMember(frame, result, ["structuredContent"]) : undefined;
  const isOther = structured !== undefined && spanType(frame, structured) !== "object";
  return removals(frame, result, isOther ? withStructured : modernMembers);
}

function toolEdits(frame: Uint8Array, result: Span): readonly Edit[] {
  const tools = readMember(frame, result, ["tools"]);
  if (tools === undefined || spanType(frame, tools) !== "array") return [];
  return splitArray(frame, tools).flatMap((tool) => {
    const schema = readMember(frame, tool, ["outputSchema"]);
    if (schema === undefined) return [];
    const type = readMember(frame, schema, ["type"]);
    const isKnown = type !== undefined && readString(frame, type) === "object";
    return isKnown ? [] : removals(frame, tool, outputSchema);
  });
}

/** A resource that is not there has a code of its own in older revisions; in 2026-07-28 it is the address in `data` that tells. */
function missingResource(frame: Uint8Array, error: Envelope["error"], { method }: ModernCall): readonly Edit[] {
  const code = error && readMember(frame, error, ["code"]);
  if (method !== "resources/read" || code === undefined || error === undefined) return [];
  const isMissing =
    readScalar(frame, code) === wireErrors.invalidParams && readMember(frame, error, ["data", "uri"]) !== undefined;
  return isMissing ? [replacing(code, encodeText(String(mcpErrors.resourceNotFound)))] : [];
}
