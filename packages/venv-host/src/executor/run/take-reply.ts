import { copyJsonObject, type JsonBounds } from "../bounded-json.js";
import { cutText } from "../error-text.js";
import { PluginHostError } from "../errors.js";
import { type HeaderMap, readHeaderMap } from "../extensions/header-map.js";
import type { JsonObject } from "../json.js";
import { rejectionOf } from "../payload/hook-forms.js";
import type { PluginReply, Violation } from "../plugin-call.js";
import type { Redactor } from "../redact.js";

const MAX_REASON_CHARS = 2_000;
const MAX_DESCRIPTION_CHARS = 8_000;
const MAX_CODE_CHARS = 200;

/** What counts of a reply, within bounds and without tokens. */
export type Verdict = Denial | Permission;

/** The plugin denies. */
export interface Denial {
  readonly denies: true;
  readonly violation: Violation;
}

/** The plugin allows, and would change this. */
export interface Permission {
  readonly denies: false;
  readonly modifiedPayload: JsonObject | undefined;
  readonly modifiedExtensions: JsonObject | undefined;
  readonly metadata: JsonObject;
  readonly httpHeaders: HeaderMap;
  readonly retryDelayMs: number;
  readonly state: JsonObject;
  readonly globalState: JsonObject;
}

/** What a reply is taken by. */
export interface TakeOptions {
  readonly hook: string;
  readonly plugin: string;
  readonly bounds: JsonBounds;
  readonly redactor: Redactor;
}

/**
 * A deny is always taken: what is broken in it, or holds a token, is left out. Of an answer that allows, each part must be
 * within bounds, and none may hold a token of the request.
 * @throws {PluginHostError} `PROTOCOL_ERROR`, `CREDENTIAL_ERROR`
 */
export function takeReply(reply: PluginReply, options: TakeOptions): Verdict {
  if (reply.continueProcessing === false) return deny(takeViolation(reply.violation, options));
  const { modifiedPayload } = reply;
  // Before it is checked: a rejection that is broken elsewhere rejects all the same.
  const rejection = modifiedPayload === undefined ? undefined : rejectionOf(options.hook, modifiedPayload);
  if (rejection !== undefined) {
    const { status } = rejection;
    const reason = cutText(options.redactor.text(rejection.reason), MAX_REASON_CHARS);
    return deny({ ...madeUp(options.plugin, "identity_rejected", reason), httpStatusCode: status });
  }
  return {
    denies: false,
    modifiedPayload: takePart(modifiedPayload, options),
    modifiedExtensions: takePart(reply.modifiedExtensions, options),
    metadata: takePart(reply.metadata, options) ?? {},
    httpHeaders: takeHeaders(reply.httpHeaders, options),
    retryDelayMs: reply.retryDelayMs,
    state: takePart(reply.context?.state, options) ?? {},
    globalState: takePart(reply.context?.globalState, options) ?? {},
  };
}

/** A violation that the host says in a plugin's place. */
export function madeUp(plugin: string, code: string, reason: string): Violation {
  return {
    reason,
    description: `plugin ${plugin}: ${reason}`,
    code,
    details: {},
    mcpErrorCode: undefined,
    httpStatusCode: undefined,
    httpHeaders: undefined,
  };
}

function deny(violation: Violation): Denial {
  return { denies: true, violation: Object.freeze(violation) };
}

function refusal({ hook }: TakeOptions): (fault: string) => PluginHostError {
  return (fault) => new PluginHostError("PROTOCOL_ERROR", `the answer to ${hook} ${fault}`);
}

function takePart(part: JsonObject | undefined, options: TakeOptions): JsonObject | undefined {
  if (part === undefined) return undefined;
  const copy = copyJsonObject(part, { bounds: options.bounds, refuse: refusal(options) });
  if (!options.redactor.isIdle && options.redactor.isIn(copy)) {
    throw new PluginHostError("CREDENTIAL_ERROR", `the answer to ${options.hook} held a token of the request`);
  }
  return copy;
}

function takeHeaders(headers: HeaderMap | undefined, options: TakeOptions): HeaderMap {
  const reading = readHeaderMap(takePart(headers, options));
  if (!reading.ok) throw refusal(options)(`has http_headers that cannot be sent: ${reading.fault}`);
  return reading.headers;
}

/** In all phases alike: a plugin that denies and does not say why denies too. */
function takeViolation(violation: Violation | undefined, options: TakeOptions): Violation {
  const { plugin, redactor } = options;
  if (violation === undefined) return madeUp(plugin, "plugin_denied", "denied without a reason");
  return {
    // Hidden before they are cut: half a token could not be found any more.
    reason: cutText(redactor.text(violation.reason), MAX_REASON_CHARS),
    description: cutText(redactor.text(violation.description), MAX_DESCRIPTION_CHARS),
    code: cutText(redactor.text(violation.code), MAX_CODE_CHARS),
    details: tryDetails(violation.details, options) ?? {},
    mcpErrorCode: violation.mcpErrorCode,
    httpStatusCode: violation.httpStatusCode,
    httpHeaders: tryHeaders(violation.httpHeaders, options),
  };
}

function tryDetails(details: JsonObject, { bounds, redactor, hook }: TakeOptions): JsonObject | undefined {
  try {
    const refuse = (fault: string): Error => new PluginHostError("PROTOCOL_ERROR", `${hook}: ${fault}`);
    return copyJsonObject(details, { bounds, refuse, text: redactor.isIdle ? undefined : redactor.text });
  } catch {
    return undefined; // over a limit: the deny stands without them
  }
}

function tryHeaders(headers: HeaderMap | undefined, options: TakeOptions): HeaderMap | undefined {
  const reading = readHeaderMap(headers === undefined ? undefined : tryDetails(headers, options));
  return headers !== undefined && reading.ok ? reading.headers : undefined;
}
