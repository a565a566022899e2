import { wireErrors } from "@berth/jsonrpc-framing";
import { escapeText } from "../../pipe/escape-text.js";
import { mcpRevision } from "../../pipe/gate.js";
import { aveErrors, gateErrors } from "../../wire-errors.js";
import { type Judge, judgeCached, judgeHook, judgeToolResult, judgeTools, judgeType } from "./judge-results.js";
import { type Answer, isJsonObject } from "./turn.js";

/** Says what is wrong with an answer by PROTOCOL.md, as the rest of a sentence that begins with the request; undefined when nothing is. */
export type Expectation = (answer: Answer) => string | undefined;

/** A result whose members are as they have to be. */
export function aResult(check: Judge = () => undefined): Expectation {
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
  return judgeCached(result);
});

export const asTools: Expectation = aResult(judgeTools);
export const asToolResult: Expectation = aResult(judgeToolResult);

/** What a call of check.json may be answered: any error, and a result that can be read. */
export function asCall(method: string): Expectation {
  const judge = callJudges.get(method) ?? (method.startsWith("ave/") ? () => undefined : judgeType);
  const judged = aResult(judge);
  return (answer) => (answer.error === undefined ? judged(answer) : undefined);
}

const callJudges: ReadonlyMap<string, Judge> = new Map([
  ["ave/hook/invoke", judgeHook],
  ["tools/list", judgeTools],
  ["tools/call", judgeToolResult],
]);

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

/** A method of `ave/instance/` that the state does not have. */
export function asBadState(state: string): Expectation {
  return anError(aveErrors.badState, "PROTOCOL.md § 4", { state });
}

/** A protocol that nobody speaks: what is spoken instead has to be said. */
export const asOtherProtocol: Expectation = (answer) =>
  anError(aveErrors.protocolUnsupported, "PROTOCOL.md § 4")(answer) ??
  (isJsonObject(answer.error?.data) && isSupported(answer.error.data["supported"])
    ? undefined
    : `was answered with ${aveErrors.protocolUnsupported}, but its data.supported is no list with 1 in it`);

/** Another revision of MCP. */
export const asOtherRevision: Expectation = (answer) => {
  const wrong = anError(gateErrors.unsupportedVersion, "PROTOCOL.md § 5")(answer);
  if (wrong !== undefined) return wrong;
  const { supported } = isJsonObject(answer.error?.data) ? answer.error.data : {};
  if (Array.isArray(supported) && supported.includes(mcpRevision)) return undefined;
  return `was answered with ${gateErrors.unsupportedVersion}, but its data.supported does not name ${mcpRevision}`;
};

function isSupported(value: unknown): boolean {
  return Array.isArray(value) && value.includes(1);
}

export const asParseFault: Expectation = anError(wireErrors.parse, "PROTOCOL.md § 3");
export const asRequestFault: Expectation = anError(wireErrors.invalidRequest, "PROTOCOL.md § 3");
export const asGated: Expectation = anError(-32602, "PROTOCOL.md § 5");

function told({ error }: Answer): string {
  if (error === undefined) return "with a result";
  return `with ${error.code} (${escapeText(error.message).slice(0, 200)})`;
}
