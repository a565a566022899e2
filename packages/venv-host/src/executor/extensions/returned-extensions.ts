import { isJsonObject } from "../bounded-json.js";
import type { DelegationHop, ReturnedExtensions } from "../extensions.js";
import type { JsonObject, JsonValue } from "../json.js";
import { readChain } from "./delegation-chain.js";
import { OPEN_SLOTS } from "./extensions-view.js";
import { type HeaderMap, readHeaderMap } from "./header-map.js";

const MAX_LABELS = 1_000;
const MAX_LABEL_CHARS = 200;

/** The parts of a plugin's extensions that can matter; undefined when it sent none. */
export interface ReturnedSlots {
  /** Of the Python shape, which has one map. */
  readonly headers: HeaderMap | undefined;
  readonly requestHeaders: HeaderMap | undefined;
  readonly responseHeaders: HeaderMap | undefined;
  readonly labels: readonly string[] | undefined;
  readonly chain: readonly DelegationHop[] | undefined;
  readonly custom: JsonObject | undefined;
}

/** Reads what a plugin sent back. Null is absent; unknown slots are nobody's. @throws what `refuse` makes, for a malformed slot. */
export function readReturnedExtensions(returned: ReturnedExtensions, refuse: (fault: string) => Error): ReturnedSlots {
  const slot = (name: string): JsonObject | undefined => readSlot(returned, name, refuse);
  for (const name of [...OPEN_SLOTS, "agent"]) slot(name);
  const http = slot("http");
  const headers = (name: string): HeaderMap | undefined => readHeaders(http?.[name], `http.${name}`, refuse);
  return {
    headers: headers("headers"),
    requestHeaders: headers("request_headers"),
    responseHeaders: headers("response_headers"),
    labels: readLabels(slot("security")?.["labels"], refuse),
    chain: readDelegation(slot("delegation"), refuse),
    custom: slot("custom"),
  };
}

function readSlot(
  returned: ReturnedExtensions,
  name: string,
  refuse: (fault: string) => Error,
): JsonObject | undefined {
  const value = Object.hasOwn(returned, name) ? returned[name] : undefined;
  if (value === undefined || value === null) return undefined;
  if (!isJsonObject(value)) throw refuse(`the slot ${name} is no object`);
  return value;
}

function readHeaders(
  value: JsonValue | undefined,
  place: string,
  refuse: (fault: string) => Error,
): HeaderMap | undefined {
  if (value === undefined || value === null) return undefined;
  const reading = readHeaderMap(value);
  if (!reading.ok) throw refuse(`the slot ${place} ${reading.fault}`);
  return reading.headers;
}

function readLabels(value: JsonValue | undefined, refuse: (fault: string) => Error): readonly string[] | undefined {
  if (value === undefined || value === null) return undefined;
  if (!isLabelList(value)) throw refuse("the slot security.labels is no list of labels");
  return value;
}

function isLabelList(value: JsonValue): value is readonly string[] {
  const isLabel = (item: JsonValue): boolean =>
    typeof item === "string" && item !== "" && item.length <= MAX_LABEL_CHARS;
  return Array.isArray(value) && value.length <= MAX_LABELS && value.every(isLabel);
}

function readDelegation(
  slot: JsonObject | undefined,
  refuse: (fault: string) => Error,
): readonly DelegationHop[] | undefined {
  if (slot === undefined) return undefined;
  const reading = readChain(slot);
  if (!reading.ok) throw refuse(`the slot delegation ${reading.fault}`);
  return reading.chain;
}
