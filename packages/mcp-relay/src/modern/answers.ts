import { type Edit, type Envelope, readMember, readScalar, spanType, splice, wireErrors } from "@berth/jsonrpc-framing";
import { mcpErrors } from "@berth/mcp-server/protocol";
import { encodeText, replacing } from "../translate.js";
import { type FrontParts, textAt } from "./front-parts.js";
import type { ModernCall } from "./modern-calls.js";
import { removal } from "./object-edits.js";
import type { Questions } from "./questions.js";

/** Members of results that older revisions do not know; some of their clients refuse a result that has them. */
const modernMembers: ReadonlySet<string> = new Set(["resultType", "ttlMs", "cacheScope"]);

/** Answers of the server to calls, as the client gets them; undefined: it gets nothing now. */
export type TakeAnswer = (call: ModernCall, frame: Uint8Array, envelope: Envelope) => Uint8Array | undefined;

/** Results lose what older revisions do not know, and questions are asked; the rest stays to the byte. */
export function createAnswers({ calls, fail }: FrontParts, questions: Questions): TakeAnswer {
  return (call, frame, { id, result, error }) => {
    if (id === undefined) return undefined;
    if (result === undefined) {
      calls.drop(call);
      return splice(frame, [replacing(id, call.idBytes), ...missingResource(frame, error, call)]);
    }
    const type = textAt(frame, result, "resultType") ?? "complete";
    if (type === "input_required") {
      questions.take(call, frame, result);
      return undefined;
    }
    if (type !== "complete") {
      fail(call, `the server answered with a result of the type ${JSON.stringify(type.slice(0, 80))}`);
      return undefined;
    }
    calls.drop(call);
    const stripped = spanType(frame, result) === "object" ? removal(frame, result, modernMembers) : undefined;
    return splice(frame, [replacing(id, call.idBytes), ...(stripped === undefined ? [] : [stripped])]);
  };
}

/** A resource that is not there has a code of its own in older revisions; in 2026-07-28 it is the address in `data` that tells. */
function missingResource(frame: Uint8Array, error: Envelope["error"], { method }: ModernCall): readonly Edit[] {
  const code = error && readMember(frame, error, ["code"]);
  if (method !== "resources/read" || code === undefined || error === undefined) return [];
  const isMissing =
    readScalar(frame, code) === wireErrors.invalidParams && readMember(frame, error, ["data", "uri"]) !== undefined;
  return isMissing ? [replacing(code, encodeText(String(mcpErrors.resourceNotFound)))] : [];
}
