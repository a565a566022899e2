import type { JsonObject, JsonValue } from "@berth/jsonrpc-framing";
import { ResultError } from "../errors.js";
import { isObject } from "../json.js";
import type { SchemaProblem } from "../json-schema/index.js";
import type { RequestContext } from "./context.js";
import type { ToolOutput, ToolResult } from "./definitions.js";
import { knownContent } from "./known-content.js";
import type { BoundTool } from "./registry.js";
import { blocksFault, memberFault } from "./result-check.js";
import type { Checked } from "./schema-source.js";
import { sentJson } from "./sent-json.js";

const members: readonly (keyof ToolOutput)[] = ["content", "structuredContent", "isError", "_meta"];

/**
 * What a tool's handler returned as the result of `tools/call`. At once, unless its output schema takes its time.
 * @throws {ResultError} for what the protocol or the output schema does not allow.
 */
export function shapeResult<P>({ name, output }: BoundTool<P>, result: ToolResult): JsonObject | Promise<JsonObject> {
  if (typeof result === "string") {
    if (output !== undefined) throw wrong(name, needsStructured);
    return { content: [{ type: "text", text: result }] };
  }
  if (!isObject(result)) throw wrong(name, "neither a string nor an object");
  const { content, structuredContent, isError, _meta } = result;
  const fault = memberFault(result, members) ?? kindFault(content, isError, _meta);
  if (fault !== undefined) throw wrong(name, fault);
  const isChecked = output !== undefined && isError !== true;
  if (structuredContent === undefined) {
    if (isChecked) throw wrong(name, needsStructured);
    return assemble(result, undefined);
  }
  const sent = asSent(name, structuredContent);
  if (!isChecked) return assemble(result, sent);
  const done = (checked: Checked): JsonObject => assemble(result, structured(name, sent, checked));
  const checking = output.check(sent);
  return checking instanceof Promise ? checking.then(done) : done(checking);
}
const needsStructured = "no structuredContent, which its output schema needs";

function wrong(name: string, what: string, cause?: unknown): ResultError {
  return new ResultError(`the handler of tool "${name}" returned ${what}`, cause === undefined ? undefined : { cause });
}

function kindFault(content: unknown, isError: unknown, meta: unknown): string | undefined {
  if (isError !== undefined && typeof isError !== "boolean") return "isError that is neither true nor false";
  if (meta !== undefined && !isObject(meta)) return "_meta that is no object";
  if (content === undefined) return undefined;
  return Array.isArray(content) ? blocksFault(content) : "content that is no array";
}

/** What the schema's validation returned: a schema of a library leaves out what it does not know. */
function structured(name: string, given: JsonValue, checked: Checked): JsonValue {
  if ("problems" in checked) {
    throw wrong(name, `structuredContent that its schema refuses: ${tellProblems(checked.problems)}`);
  }
  return checked.value === given ? given : asSent(name, checked.value);
}

/** What is checked is what the client gets, not what JSON will make something else of. */
function asSent(name: string, value: unknown): JsonValue {
  try {
    return sentJson(value);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw wrong(name, `structuredContent that is no JSON: ${reason}`, error);
  }
}

function assemble(result: JsonObject, structuredContent: JsonValue | undefined): JsonObject {
  const { content, isError, _meta } = result;
  const shown =
    content ?? (structuredContent === undefined ? [] : [{ type: "text", text: JSON.stringify(structuredContent) }]);
  return {
    content: shown,
    ...(structuredContent === undefined ? {} : { structuredContent }),
    ...(isError === undefined ? {} : { isError }),
    ...(_meta === undefined ? {} : { _meta }),
  };
}

/** Legacy clients know structured results since 2025-06-18, and objects only; and older ones not all kinds of content. */
export function gate(result: JsonObject, { era, revision }: RequestContext<unknown>): JsonObject {
  if (era === "modern") return result;
  const { structuredContent, content, ...rest } = result;
  if (revision < "2025-06-18") {
    return { content: Array.isArray(content) ? knownContent(content, revision) : [], ...rest };
  }
  return structuredContent === undefined || isObject(structuredContent) ? result : { content, ...rest };
}

/** Problems as one text. */
export function tellProblems(problems: readonly SchemaProblem[]): string {
  return problems.map(({ path, message }) => (path === "" ? message : `${path} ${message}`)).join("; ");
}
