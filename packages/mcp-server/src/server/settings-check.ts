import {
  aFunction,
  anObject,
  aText,
  checkOptions,
  having,
  kind,
  type OptionKind,
  type OptionKinds,
  optional,
} from "../option-check.js";
import { legacyRevisions, modernRevisions, type ProtocolRevision } from "../revisions.js";
import { checkTaskSettings } from "../tasks/settings.js";
import type { CacheHints, McpServerOptions, RequestStateSettings } from "./options.js";
import { checkIcons, someList, someText } from "./registration-kinds.js";
import type { ServerIdentity } from "./render.js";

type Fault = (where: string, message: string) => void;

const some = optional(anObject);
const callback = optional(aFunction);
const isListOf = (value: unknown, fits: (one: unknown) => boolean): boolean =>
  Array.isArray(value) && value.every(fits);
const isOneOf = (value: unknown, texts: readonly unknown[]): boolean => texts.includes(value);

/** What `createMcpServer` accepts, by name. */
const serverKinds = {
  identity: anObject,
  instructions: someText,
  revisions: some,
  authorize: callback,
  tools: someList,
  relayedTools: someList,
  prompts: someList,
  relayedPrompts: someList,
  resources: someList,
  resourceTemplates: someList,
  relayedResources: someList,
  relayedResourceTemplates: someList,
  relayedAddresses: some,
  isSafeError: callback,
  invalidArguments: optional(
    kind('"by-revision" or "tool-error"', (value) => isOneOf(value, ["by-revision", "tool-error"])),
  ),
  observers: optional(kind("a list of functions", (value) => isListOf(value, aFunction.fits))),
  instrumentation: optional(having(["begin"], "an instrumentation")),
  onObserverError: callback,
  cacheHints: some,
  requestState: some,
  principalId: callback,
  tasks: some,
  limits: some,
  schemaLimits: some,
  now: callback,
  scheduler: optional(having(["now", "after"], "a scheduler")),
} as const satisfies OptionKinds<McpServerOptions<unknown>>;

const identityKinds = {
  name: aText,
  version: aText,
  title: someText,
  description: someText,
  icons: someList,
  websiteUrl: optional(kind("an address", (value) => typeof value === "string" && URL.canParse(value))),
} as const satisfies OptionKinds<ServerIdentity>;

const cacheHintKinds = {
  ttlMs: kind("a whole number of milliseconds", (value) => Number.isSafeInteger(value) && Number(value) >= 0),
  scope: kind('"public" or "private"', (value) => value === "public" || value === "private"),
} as const satisfies OptionKinds<CacheHints>;

const requestStateKinds = { keys: someList } as const satisfies OptionKinds<RequestStateSettings>;

/** Checks all options but the registrations and the limits, which have readers of their own. False: there are no options to go on with. */
export function checkSettings<P>(options: McpServerOptions<P>, fault: Fault): boolean {
  checkOptions(options, serverKinds, { fault: (message) => fault("options", message) });
  if (!anObject.fits(options)) return false;
  const { identity, revisions, cacheHints, requestState, tasks } = options;
  const members = (where: string, given: unknown, kinds: Readonly<Record<string, OptionKind>>): boolean => {
    if (!anObject.fits(given)) return false;
    checkOptions(given, kinds, { fault: (message) => fault(where, message) });
    return true;
  };
  if (members("identity", identity, identityKinds)) {
    checkIcons(identity.icons, (message) => fault("identity", message));
  }
  if (revisions !== undefined) checkRevisions(revisions, fault);
  members("cacheHints", cacheHints, cacheHintKinds);
  if (members("requestState", requestState, requestStateKinds)) checkKeys(requestState?.keys, fault);
  checkTaskSettings(tasks, (message) => fault("tasks", message));
  return true;
}

function checkRevisions(revisions: NonNullable<McpServerOptions<unknown>["revisions"]>, fault: Fault): void {
  const known: readonly ProtocolRevision[] = [...legacyRevisions, ...modernRevisions];
  const list = kind("a list, which may be empty", Array.isArray);
  const kinds = { legacy: list, modern: list } as const satisfies OptionKinds<typeof revisions>;
  if (!anObject.fits(revisions)) return;
  checkOptions(revisions, kinds, { fault: (message) => fault("revisions", message) });
  if (!Array.isArray(revisions.legacy) || !Array.isArray(revisions.modern)) return;
  const served = [...revisions.legacy, ...revisions.modern];
  if (served.length === 0) fault("revisions", "none is served");
  for (const name of served) if (!known.includes(name)) fault("revisions", `${String(name)} is not known`);
}

function checkKeys(keys: RequestStateSettings["keys"], fault: Fault): void {
  if (!Array.isArray(keys)) return;
  for (const key of keys) {
    if (!(key instanceof Uint8Array)) fault("requestState", "a key is no Uint8Array");
    else if (key.length < 32) fault("requestState", `a key has ${key.length} bytes; at least 32 are needed`);
  }
}
