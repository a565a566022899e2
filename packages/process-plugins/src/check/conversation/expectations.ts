import type { JsonObject } from "@berth/jsonrpc-framing";
import { escapeText } from "../../pipe/escape-text.js";
import { mcpRevision } from "../../pipe/gate.js";
import { aveErrors } from "../../wire-errors.js";
import { type Answer, isJsonObject } from "./turn.js";

/** Says what is wrong with an answer by PROTOCOL.md, as the rest of a sentence that begins with the request; undefined when nothing is. */
export type Expectation = (answer: Answer) => string | undefined;

/** Any result, or any error: whether it is right only the transcript knows. */
export const anyAnswer: Expectation = () => undefined;

/** A result whose members are as they have to be. */
export function aResult(check: (result: JsonObject) => string | undefined = () => undefined): Expectation {
  return (answer) => {
    if (answer.result === undefined) return `was answered ${told(answer)}`;
    const wrong = check(answer.result);
    return wrong === undefined ? undefined : `was answered with a result in which ${wrong}`;
  };
}

/** The error of this number. */
export function anError(code: number, section: string, data?: unknown): Expectation {
  return (answer) => {
    const { error } = answer;
    if (error?.code !== code) return `was answered ${told(answer)}; ${section} asks for ${code}`;
    if (data === undefined || JSON.stringify(error.data) === JSON.stringify(data)) return undefined;
    return `was answered with ${code}, but its data is not ${JSON.stringify(data)} (${section})`;
  };
}

export const asHealth: Expectation = aResult(({ status }) =>
  status === "ok" || status === "degraded" ? undefined : "status is neither ok nor degraded",
);

export const asDiscovery: Expectation = aResult((result) => {
  const { supportedVersions, capabilities } = result;
  if (!Array.isArray(supportedVersions) || !supportedVersions.includes(mcpRevision)) {
    return `supportedVersions does not name ${mcpRevision}`;
  }
  if (!isJsonObject(capabilities)) return "capabilities is no object";
  return cached(result);
});

export const asTools: Expectation = aResult((result) => {
  const { tools } = result;
  if (!Array.isArray(tools)) return "tools is no array";
  const bad = tools.findIndex(
    (tool) => !isJsonObject(tool) || typeof tool["name"] !== "string" || !isJsonObject(tool["inputSchema"]),
  );
  return bad === -1 ? cached(result) : `tools[${bad}] has no name, or no inputSchema`;
});

export const asToolResult: Expectation = aResult((result) => {
  if (!Array.isArray(result["content"])) return "content is no array";
  return completed(result);
});

/** MCP asks for -32602; libraries answer with a result that is an error, and one without tools does not know the method. */
export const asUnknownTool: Expectation = (answer) => {
  const { result, error } = answer;
  if (error !== undefined) return [-32602, -32601].includes(error.code) ? undefined : `was answered ${told(answer)}`;
  return result?.["isError"] === true ? undefined : "was answered with a result that is no error";
};

/** -32601, and in `ave/` the method as its data. */
export const asUnknownMethod: Expectation = anError(-32601, "PROTOCOL.md § 5");

export function asUnknownAve(method: string): Expectation {
  return anError(-32601, "PROTOCOL.md § 4", method);
}

export const asNotRunning: Expectation = anError(aveErrors.notRunning, "PROTOCOL.md § 4");
export const asGated: Expectation = anError(-32602, "PROTOCOL.md § 5");

function completed({ resultType }: JsonObject): string | undefined {
  return typeof resultType === "string" ? undefined : "resultType is missing";
}

function cached(result: JsonObject): string | undefined {
  const { ttlMs, cacheScope } = result;
  if (typeof ttlMs !== "number") return "ttlMs is no number";
  return typeof cacheScope === "string" ? completed(result) : "cacheScope is no text";
}

function told({ error }: Answer): string {
  if (error === undefined) return "with a result";
  return `with ${error.code} (${escapeText(error.message).slice(0, 200)})`;
}
