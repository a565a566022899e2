import type { JsonObject } from "@berth/jsonrpc-framing";
import type { ServedRevisions } from "../era.js";
import type { SchemaCompiler } from "../json-schema/index.js";
import { legacyRevisions, modernRevisions, type ProtocolRevision } from "../revisions.js";
import type { Tasks } from "../tasks/tasks.js";
import type { RequestContext } from "./context.js";
import { createPagedList, type EncodedResult, type Listed, type PagedList } from "./list.js";
import type { Observation } from "./observers.js";
import type { McpServerOptions } from "./options.js";
import { hasOwnResources, hasPrompts, hasResources, hasTools, type Registry } from "./registry.js";
import { modernResult, renderIdentity } from "./render.js";
import type { Binding, RequestStateCodec } from "./request-state.js";

/** What a method answers with: a result that is complete for its era, or one that is kept as bytes. */
export type Reply = JsonObject | EncodedResult;

/** Lists by their member's name. */
export type ListName = "tools" | "prompts" | "resources" | "resourceTemplates";

/** All that methods need of a server. */
export interface Core<P> {
  readonly options: McpServerOptions<P>;
  readonly registry: Registry<P>;
  readonly compiler: SchemaCompiler;
  readonly codec: RequestStateCodec;
  readonly lists: Readonly<Record<ListName, PagedList>>;
  readonly hints: JsonObject;
  readonly revisions: ServedRevisions;
  /** As clients of this revision are told. */
  serverInfo(revision: ProtocolRevision): JsonObject;
  /** Without extensions: those are told to clients of 2026-07-28 only. */
  readonly capabilities: JsonObject;
  /** Undefined when no tool can be run as a task. */
  readonly tasks: Tasks<P> | undefined;
  readonly hasCompletions: boolean;
  /** @throws {TypeError} when the principal is no string and there is no `principalId`. */
  principalId(principal: P): string;
  binding(context: RequestContext<P>): Binding;
  /** What `isSafeError` says. When that throws the error is not safe. */
  isSafe(error: unknown): boolean;
}

export function createCore<P>(
  options: McpServerOptions<P>,
  registry: Registry<P>,
  compiler: SchemaCompiler,
  codec: RequestStateCodec,
  tasks: Tasks<P> | undefined,
  observation: Observation<P>,
): Core<P> {
  const hints: JsonObject = {
    ttlMs: options.cacheHints?.ttlMs ?? 0,
    cacheScope: options.cacheHints?.scope ?? "private",
  };
  const known = new Map(
    [...legacyRevisions, ...modernRevisions].map((revision) => [revision, renderIdentity(options.identity, revision)]),
  );
  const serverInfo = (revision: ProtocolRevision): JsonObject => known.get(revision) ?? {};
  const list = (member: ListName, entries: Iterable<Listed>): PagedList =>
    createPagedList({
      member,
      entries: [...entries],
      pageSize: registry.limits.pageSize,
      wrap: (page, revision) =>
        revision >= "2026-07-28" ? modernResult({ ...page, ...hints }, serverInfo(revision)) : page,
    });
  const hasCompletions = completes(registry);
  return {
    options,
    registry,
    compiler,
    codec,
    lists: {
      tools: list("tools", [...registry.tools.values(), ...registry.relayed.tools.values()]),
      prompts: list("prompts", [...registry.prompts.values(), ...registry.relayed.prompts.values()]),
      resources: list("resources", [...registry.resources.values(), ...registry.relayed.resources.values()]),
      resourceTemplates: list("resourceTemplates", [
        ...registry.templates.values(),
        ...registry.relayed.templates.values(),
      ]),
    },
    hints,
    revisions: options.revisions ?? { legacy: legacyRevisions, modern: modernRevisions },
    serverInfo,
    capabilities: capabilitiesOf(registry, hasCompletions),
    tasks,
    hasCompletions,
    principalId: (principal) => principalId(options, principal),
    isSafe(error) {
      try {
        return options.isSafeError?.(error) === true;
      } catch (fault) {
        observation.failed(fault); // whoever waits for the answer gets the handler's error
        return false;
      }
    },
    binding: ({ principal, method, params }) => ({ principal: principalId(options, principal), method, params }),
  };
}

/** A result with what its era wants around it. */
export function complete<P>(core: Core<P>, context: RequestContext<P>, result: JsonObject): JsonObject {
  return context.era === "modern" ? modernResult(result, core.serverInfo(context.revision)) : result;
}

function completes<P>({ prompts, templates, relayed }: Registry<P>): boolean {
  return (
    [...relayed.prompts.values(), ...relayed.templates.values()].some(({ complete }) => complete !== undefined) ||
    [...prompts.values()].some(({ definition }) => definition.arguments?.some((argument) => argument.complete)) ||
    [...templates.values()].some(({ definition }) => Object.keys(definition.complete ?? {}).length > 0)
  );
}

/** Only what there are handlers for. */
function capabilitiesOf<P>(registry: Registry<P>, hasCompletions: boolean): JsonObject {
  const capabilities: Record<string, JsonObject> = { logging: {} };
  if (hasTools(registry)) capabilities["tools"] = { listChanged: true };
  if (hasPrompts(registry)) capabilities["prompts"] = { listChanged: true };
  if (hasResources(registry)) {
    capabilities["resources"] = hasOwnResources(registry)
      ? { subscribe: true, listChanged: true }
      : { listChanged: true };
  }
  if (hasCompletions) capabilities["completions"] = {};
  return capabilities;
}

/** Fails closed: two principals that look alike as JSON must not share a state. */
export function principalId<P>(options: McpServerOptions<P>, principal: P): string {
  if (options.principalId === undefined) {
    if (typeof principal === "string") return principal;
    throw principalIdNeeded();
  }
  const id: unknown = options.principalId(principal);
  if (typeof id === "string") return id;
  throw new TypeError(`principalId returned ${id === null ? "null" : typeof id}; it has to be a string`);
}

/** Told at the first request, not where something is first kept for a principal. */
export function principalIdNeeded(): TypeError {
  return new TypeError(
    "the principal is no string: createMcpServer needs the option principalId, which tells principals apart",
  );
}
