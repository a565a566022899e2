import { isSameJson } from "../bounded-json.js";
import type { Extensions, HttpExtension, SecurityExtension } from "../extensions.js";
import type { JsonObject } from "../json.js";
import type { WritablePart } from "./capabilities.js";
import { tryExtendChain } from "./delegation-chain.js";
import { applyHeaderChanges, type HeaderMap, headerChanges, withoutSensitive } from "./header-map.js";
import type { ReturnedSlots } from "./returned-extensions.js";

/** What a merge goes by. */
export interface MergeOptions {
  readonly mayWrite: (part: WritablePart) => boolean;
  /** As the plugin was shown texts: with tokens replaced, so that a placeholder that comes back is no change. */
  readonly shownText: (text: string) => string;
}

/**
 * Our extensions with what a plugin may change of them (CPEX fact sheet § 6): the very same object when that is nothing;
 * else a new one in which each slot that was not changed is still the same object. A write without its authority is
 * dropped, and keeps no other from being applied.
 */
export function mergeExtensions(
  current: Extensions | undefined,
  returned: ReturnedSlots,
  { mayWrite, shownText }: MergeOptions,
): Extensions | undefined {
  const changed = {
    ...changedSlot("http", mayWrite("http") ? mergeHttp(current?.http, returned, shownText) : current?.http, current),
    ...changedSlot(
      "security",
      mayWrite("labels") ? mergeLabels(current?.security, returned.labels) : current?.security,
      current,
    ),
    ...changedDelegation(current, mayWrite("delegation") ? returned : undefined),
    ...changedCustom(current, returned.custom),
  };
  return Object.keys(changed).length === 0 ? current : Object.freeze({ ...current, ...changed });
}

function changedSlot<Name extends "http" | "security">(
  name: Name,
  slot: Extensions[Name],
  current: Extensions | undefined,
): Partial<Record<Name, Extensions[Name]>> | undefined {
  return slot === current?.[name] ? undefined : makeSlot(name, slot);
}

function makeSlot<Name extends string, Slot>(name: Name, slot: Slot): Partial<Record<Name, Slot>> {
  const made: Partial<Record<Name, Slot>> = {};
  made[name] = slot;
  return made;
}

/** Only headers; the request line stays ours. */
function mergeHttp(
  current: HttpExtension | undefined,
  { headers, requestHeaders, responseHeaders }: ReturnedSlots,
  shownText: (text: string) => string,
): HttpExtension | undefined {
  const ourRequest = current?.requestHeaders ?? {};
  const ourResponse = current?.responseHeaders ?? {};
  const shownRequest = shown(ourRequest, shownText);
  // A plugin that knows one shape leaves the other as it was shown: the changes of both count, those of ours last.
  const afterPython = mergeMap(ourRequest, shownRequest, headers);
  const request = mergeMap(afterPython, shownRequest, requestHeaders);
  const response = mergeMap(ourResponse, shown(ourResponse, shownText), responseHeaders);
  if (request === ourRequest && response === ourResponse) return current;
  return Object.freeze({ ...current, requestHeaders: request, responseHeaders: response });
}

/** An empty map is what a plugin sends that is about something else: it takes nothing away. */
function mergeMap(headers: HeaderMap, shownHeaders: HeaderMap, returned: HeaderMap | undefined): HeaderMap {
  if (returned === undefined || Object.keys(returned).length === 0) return headers;
  return applyHeaderChanges(headers, headerChanges(shownHeaders, returned));
}

function shown(headers: HeaderMap, shownText: (text: string) => string): HeaderMap {
  const visible = Object.entries(withoutSensitive(headers));
  return Object.fromEntries(visible.map(([name, value]) => [shownText(name), shownText(value)]));
}

/** Ours and the new ones: a label that is left out is not taken away. */
function mergeLabels(
  current: SecurityExtension | undefined,
  returned: readonly string[] | undefined,
): SecurityExtension | undefined {
  const held = current?.labels ?? [];
  const known = new Set(held);
  const added = [...new Set(returned)].filter((label) => !known.has(label));
  return added.length === 0 ? current : Object.freeze({ ...current, labels: Object.freeze([...held, ...added]) });
}

function changedDelegation(
  current: Extensions | undefined,
  returned: ReturnedSlots | undefined,
): Pick<Extensions, "delegation"> | undefined {
  const delegation = returned?.chain === undefined ? undefined : tryExtendChain(current?.delegation, returned.chain);
  return delegation === undefined ? undefined : { delegation };
}

/** Anybody's, and replaced as a whole. */
function changedCustom(
  current: Extensions | undefined,
  custom: JsonObject | undefined,
): Pick<Extensions, "custom"> | undefined {
  return custom === undefined || isSameJson(current?.custom, custom) ? undefined : { custom };
}
