import {
  type CopyOptions,
  copyJsonObject,
  isPlainRecord,
  isSameJson,
  type JsonBounds,
  mergeMembers,
} from "../bounded-json.js";
import { PluginHostError } from "../errors.js";
import { overlayHeaders, readHeaderMap } from "../extensions/header-map.js";
import type { JsonObject } from "../json.js";
import { REDACTED, type Redactor } from "../redact.js";
import { type HookForm, saysNothing } from "./hook-forms.js";
import { readShape } from "./payload-shape.js";

/** What plugins have made of a request so far. */
export interface Work {
  /** As the next plugin is shown it. */
  readonly payload: JsonObject;
  /** In the hook's result form; undefined until a plugin gave one. */
  readonly result: JsonObject | undefined;
}

/**
 * A request's payload as plugins are shown it: of the hook's form, frozen, with placeholders for what is secret in it.
 * @throws {PluginHostError} `PAYLOAD_INVALID`
 */
export function takePayload(
  hook: string,
  form: HookForm,
  given: unknown,
  bounds: JsonBounds,
  redactor: Redactor,
): JsonObject {
  const refuse = (fault: string): PluginHostError =>
    new PluginHostError("PAYLOAD_INVALID", `payload of ${hook}: ${fault}`);
  const copying: CopyOptions = { bounds, refuse, text: redactor.isIdle ? undefined : redactor.text };
  const payload = copyJsonObject(given, copying);
  if (form.payload === undefined) return payload;
  const reading = readShape(form.payload, payload);
  if (!reading.ok) throw refuse(reading.fault);
  return hideSecret(form, reading.payload);
}

/** The placeholder is there also where no token was given: the framework's model of an identity payload requires one. */
function hideSecret({ secret }: HookForm, payload: JsonObject): JsonObject {
  if (secret === undefined) return payload;
  const isNeeded = secret === "raw_token" || typeof payload[secret] === "string";
  if (isNeeded) return Object.freeze({ ...payload, [secret]: REDACTED });
  return Object.freeze(Object.fromEntries(Object.entries(payload).filter(([name]) => name !== secret)));
}

/** The token in the payload's own secret member. */
export function secretIn({ secret }: HookForm, payload: unknown): string | undefined {
  const value = secret === undefined || !isPlainRecord(payload) ? undefined : payload[secret];
  return typeof value === "string" ? value : undefined;
}

/**
 * The work with a plugin's `modified_payload`, which must be of the hook's own form; the same object when nothing changes.
 * @throws {PluginHostError} `PROTOCOL_ERROR` naming the hook.
 */
export function applyModified(hook: string, form: HookForm, work: Work, modified: JsonObject): Work {
  const refuse = (fault: string): PluginHostError =>
    new PluginHostError("PROTOCOL_ERROR", `modified_payload is not that of ${hook}: ${fault}`);
  if (form.answer === "headers") return applyHeaders(form.into ?? "headers", work, modified, refuse);
  const shape = form.answer === "payload" ? form.payload : form.result;
  const reading = shape === undefined ? { ok: true as const, payload: modified } : readShape(shape, modified);
  if (!reading.ok) throw refuse(reading.fault);
  if (form.answer === "payload") {
    return isSameJson(work.payload, reading.payload) ? work : { ...work, payload: reading.payload };
  }
  if (shape !== undefined && saysNothing(shape, reading.payload)) throw refuse("it is no result of this hook");
  return { ...work, result: reading.payload };
}

/** The answer holds only headers that change; the next plugin sees them in the payload. These hooks may set any header. */
function applyHeaders(into: string, work: Work, modified: JsonObject, refuse: (fault: string) => Error): Work {
  const returned = readHeaderMap(modified, "keep");
  if (!returned.ok) throw refuse(`it ${returned.fault}`);
  const held = readHeaderMap(work.payload[into], "keep");
  const before = readHeaderMap(work.result, "keep");
  const headers = overlayHeaders(held.ok ? held.headers : {}, returned.headers);
  const all = overlayHeaders(before.ok ? before.headers : {}, returned.headers);
  return { payload: mergeMembers(work.payload, { [into]: headers }), result: all };
}
