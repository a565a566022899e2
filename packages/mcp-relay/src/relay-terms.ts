import { type Scheduler, systemScheduler } from "@berth/jsonrpc-framing";
import { RelayError } from "./errors.js";
import { listKinds } from "./list-kinds.js";
import { checkServerNames, type NameStyle } from "./names.js";
import type { RelayLimits, RelayOptions } from "./relay-options.js";
import type { BadLinePolicy, PinnedInitialize, ServerPolicy, ServerWaits, ToolPolicy } from "./server-policy.js";

/** A ServerPolicy with defaults filled in. */
export interface ServerTerms {
  readonly name: string;
  readonly onBadLine: BadLinePolicy;
  readonly waits: { readonly [K in keyof ServerWaits]-?: number };
  readonly tools: ToolPolicy;
  readonly pinnedInitialize: PinnedInitialize | undefined;
}

/** RelayOptions checked and with defaults filled in; the only form that the session sees. */
export interface RelayTerms {
  readonly servers: readonly ServerTerms[];
  readonly names: NameStyle;
  readonly observe: boolean;
  readonly showUnpinned: boolean;
  readonly passThroughInitialize: boolean;
  readonly limits: { readonly [K in keyof RelayLimits]-?: number };
  readonly scheduler: Scheduler;
}

const day = 86_400_000;

/**
 * Checks options once, where they enter.
 * @throws {RelayError} `OPTIONS_INVALID`, `SERVER_NAME_INVALID`, `SERVER_NAMES_AMBIGUOUS`.
 */
export function readRelayTerms(options: RelayOptions): RelayTerms {
  const { servers, names = "prefixed", passThroughInitialize = false } = options;
  if (servers.length === 0) throw new RelayError("OPTIONS_INVALID", "a relay needs at least one server");
  if (passThroughInitialize && servers.length > 1) {
    throw new RelayError("OPTIONS_INVALID", `passThroughInitialize is for one server, there are ${servers.length}`);
  }
  const serverNames = servers.map(({ name }) => name);
  checkServerNames(serverNames, names);
  return {
    servers: servers.map(readServerTerms),
    names,
    observe: options.observe ?? false,
    showUnpinned: (options.unpinned ?? "show") === "show",
    passThroughInitialize,
    limits: readLimits(options.limits ?? {}),
    scheduler: options.scheduler ?? systemScheduler,
  };
}

/** One server's policy with defaults. */
export function readServerTerms(policy: ServerPolicy): ServerTerms {
  checkPins(policy);
  return {
    name: policy.name,
    onBadLine: policy.onBadLine ?? "fatal",
    waits: readWaits(policy.name, policy.deadlines ?? {}),
    tools: policy.tools ?? {},
    pinnedInitialize: policy.pinnedInitialize,
  };
}

/** Pins come from a file that people edit, and are sent to clients as they are. */
function checkPins({ name, tools, pinnedInitialize }: ServerPolicy): void {
  for (const key of ["capabilities", "serverInfo"] as const) {
    const text = pinnedInitialize?.[key];
    if (text !== undefined && parsedObject(text) === undefined) {
      throw new RelayError("OPTIONS_INVALID", `${name}.pinnedInitialize.${key} must be the text of a JSON object`);
    }
  }
  for (const { pinning, nameMember } of Object.values(listKinds)) {
    for (const [key, { definition }] of Object.entries(pinning?.pinned(tools ?? {}) ?? {})) {
      if (parsedObject(definition)?.[nameMember] === key) continue;
      const what = `the text of a JSON object with this ${nameMember}`;
      throw new RelayError(
        "OPTIONS_INVALID",
        `${name}: the pinned definition of ${JSON.stringify(key)} must be ${what}`,
      );
    }
  }
}

function parsedObject(text: string): { readonly [member: string]: unknown } | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value) ? { ...value } : undefined;
  } catch {
    return undefined; // Said by the caller, with its place.
  }
}

function readWaits(server: string, given: ServerWaits): ServerTerms["waits"] {
  const read = (name: keyof ServerWaits, fallback: number): number =>
    bounded(`${server}.deadlines.${name}`, given[name] ?? fallback, 1, day);
  return {
    startMs: read("startMs", 30_000),
    listMs: read("listMs", 15_000),
    callMs: read("callMs", 300_000),
    callMaxMs: read("callMaxMs", 3_600_000),
  };
}

function readLimits(given: RelayLimits): RelayTerms["limits"] {
  const read = (name: keyof RelayLimits, fallback: number, min: number, max: number): number =>
    bounded(`limits.${name}`, given[name] ?? fallback, min, max);
  return {
    maxPendingCalls: read("maxPendingCalls", 1_024, 1, 65_536),
    maxPendingBytes: read("maxPendingBytes", 67_108_864, 1_024, 4_294_967_296),
    maxServerRequests: read("maxServerRequests", 256, 1, 4_096),
    maxListPages: read("maxListPages", 100, 1, 10_000),
    maxListBytes: read("maxListBytes", 16_777_216, 1_024, 268_435_456),
    interceptMs: read("interceptMs", 300_000, 1, day),
    maxHeldBytes: read("maxHeldBytes", 67_108_864, 1_024, 4_294_967_296),
    pauseAboveBytes: read("pauseAboveBytes", 8_388_608, 1_024, 1_073_741_824),
  };
}

function bounded(where: string, value: number, min: number, max: number): number {
  if (Number.isInteger(value) && value >= min && value <= max) return value;
  throw new RelayError("OPTIONS_INVALID", `${where} must be an integer from ${min} to ${max}, not ${value}`);
}
