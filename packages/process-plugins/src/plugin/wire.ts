import { aveErrors, gateErrors } from "../wire-errors.js";
import type { Json } from "./plugin-definition.js";

/** What answers a request with an error. Its message goes to the host: it holds nothing of an exception. */
export interface WireFault {
  readonly code: number;
  readonly message: string;
  readonly data?: unknown;
}

/** A request was answered: with a result, or with a fault. */
export type Answer = { readonly result: Json } | { readonly error: WireFault };

/** The faults of PROTOCOL.md, in the words that every plugin of ours uses. */
export const faults: Readonly<Record<"parse" | "request" | "internal" | "notRunning" | "protocol", WireFault>> = {
  parse: { code: -32700, message: "Parse error" },
  request: { code: -32600, message: "Invalid Request" },
  internal: { code: -32603, message: "Internal error" },
  notRunning: { code: aveErrors.notRunning, message: "not running" },
  protocol: { code: aveErrors.protocolUnsupported, message: "Unsupported protocol", data: { supported: [1] } },
};

export const methodNotFound = (method: string): Answer => ({
  error: { code: -32601, message: "Method not found", data: method },
});

export const badState = (state: string): Answer => ({
  error: { code: aveErrors.badState, message: "bad state", data: { state } },
});

export const invalidParams = (message: string): Answer => ({ error: { code: gateErrors.invalidParams, message } });

export const isJson = (value: unknown): value is Json =>
  typeof value === "object" && value !== null && !Array.isArray(value);

type MemberType = "string" | "integer" | "object";

const is: Readonly<Record<MemberType, (value: unknown) => boolean>> = {
  string: (value) => typeof value === "string",
  integer: (value) => Number.isSafeInteger(value),
  object: isJson,
};

/** The answer to params of which a member is missing or of another type; `undefined` when all are there. */
export function paramsFault(params: Json, members: Readonly<Record<string, MemberType>>): Answer | undefined {
  for (const [name, type] of Object.entries(members)) {
    if (is[type](params[name])) continue;
    return invalidParams(`params.${name} is missing or not ${type === "string" ? "a" : "an"} ${type}`);
  }
  return undefined;
}
