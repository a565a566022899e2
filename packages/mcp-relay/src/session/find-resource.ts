import { mcpErrors } from "@berth/mcp-server/protocol";
import { listKinds } from "../list-kinds.js";
import type { Upstream } from "../upstream/upstream.js";
import { compileTemplate, maxTemplateLength, type TemplateMatcher } from "../uri-template.js";
import { notServed, RelayFault } from "../wire-errors.js";
import type { SessionParts } from "./session-parts.js";

/** Templates of one server that are tried for an address; more than this are listed but not used for routing. */
const maxTemplates = 128;
/** Compiled templates that are kept. */
const maxMatchers = 4_096;

/** Finds the server that a resource belongs to. */
export interface ResourceFinder {
  /**
   * By listed URI, then by template, in catalog order; then the only server that has resources.
   * @throws {RelayFault} -32002 with `data.uri`; -31100 or -31102 when the only server that has resources cannot be asked.
   */
  byUri(uri: string): Promise<Found>;
  /** By a template as listed, else as `byUri`. */
  byTemplate(template: string): Promise<Found>;
}

/** The server, and the template that led to it where one did. */
export interface Found {
  readonly upstream: Upstream;
  readonly template?: string | undefined;
}

/** With one server there is nothing to find. */
export function createResourceFinder(session: SessionParts): ResourceFinder {
  const matchers = new Map<string, TemplateMatcher | undefined>();
  const matches = (template: string, uri: string): boolean => {
    if (template.length > maxTemplateLength) return false;
    if (matchers.size > maxMatchers) matchers.clear();
    if (!matchers.has(template)) matchers.set(template, compileTemplate(template));
    return matchers.get(template)?.(uri) ?? false;
  };

  const byUri = async (uri: string): Promise<Found> => {
    const [only, ...others] = session.upstreams;
    if (only !== undefined && others.length === 0 && templatePins(only) === undefined) return { upstream: only };
    const failed = await learnResources(session);
    const owner = ownerOf(session, "resources", uri);
    if (owner !== undefined) return { upstream: owner };
    for (const upstream of session.upstreams) {
      const template = templateOf(session, upstream, uri, matches);
      if (template !== undefined) return { upstream, template };
    }
    return lastResort(session, uri, failed);
  };

  return {
    byUri,
    async byTemplate(template) {
      if (session.upstreams.length > 1) await learnResources(session);
      const upstream = ownerOf(session, "resourceTemplates", template);
      return upstream === undefined ? byUri(template) : { upstream, template };
    },
  };
}

/** The first server of the catalog that lists this address or template, as last seen in this session, or has it pinned. */
export function ownerOf(
  { offers, upstreams }: SessionParts,
  kind: "resources" | "resourceTemplates",
  name: string,
): Upstream | undefined {
  const isPinned = (upstream: Upstream): boolean =>
    kind === "resourceTemplates" && Object.hasOwn(templatePins(upstream) ?? {}, name);
  return upstreams.find((upstream) => offers.has(upstream.terms.name, kind, name) || isPinned(upstream));
}

/** A resource that is listed by its URI is not an instance of a template, whatever the template would match. */
function templateOf(
  { offers }: SessionParts,
  upstream: Upstream,
  uri: string,
  matches: (template: string, uri: string) => boolean,
): string | undefined {
  const server = upstream.terms.name;
  if (offers.has(server, "resources", uri)) return undefined;
  const templates = new Set([
    ...Object.keys(templatePins(upstream) ?? {}),
    ...offers.names(server, "resourceTemplates"),
  ]);
  return [...templates].slice(0, maxTemplates).find((template) => matches(template, uri));
}

function templatePins({ terms }: Upstream) {
  return listKinds.resourceTemplates.pinning?.pinned(terms.tools);
}

/** Asks each server whose resources were never seen; those that cannot be asked are returned with the reason. */
async function learnResources(session: SessionParts): Promise<ReadonlyMap<Upstream, RelayFault>> {
  const failed = new Map<Upstream, RelayFault>();
  const learn = async (upstream: Upstream): Promise<void> => {
    try {
      await learnFrom(session, upstream);
    } catch (error) {
      if (!(error instanceof RelayFault)) throw error;
      failed.set(upstream, error);
    }
  };
  await Promise.all(session.upstreams.map(learn));
  return failed;
}

async function learnFrom({ offers }: SessionParts, upstream: Upstream): Promise<void> {
  const server = upstream.terms.name;
  if (offers.seen(server, "resources") && offers.seen(server, "resourceTemplates")) return;
  if (upstream.has("resources") === false) return;
  const child = await upstream.start();
  if (!child.introduction.capabilities.has("resources")) return;
  await Promise.all([child.listings.resources.ensure(), child.listings.resourceTemplates.ensure()]);
}

function lastResort({ upstreams }: SessionParts, uri: string, failed: ReadonlyMap<Upstream, RelayFault>): Found {
  const [only, ...others] = upstreams.filter((upstream) => upstream.has("resources") !== false);
  if (only !== undefined && others.length === 0) {
    const fault = failed.get(only);
    if (fault !== undefined) throw fault;
    return { upstream: only };
  }
  const unavailable = [...failed.keys()].map(({ terms }) => terms.name).join(", ");
  const problem =
    unavailable === "" ? "Resource not found" : `Resource not found; not asked, because not available: ${unavailable}`;
  throw notServed(mcpErrors.resourceNotFound, "UNKNOWN_RESOURCE", problem, { uri });
}
