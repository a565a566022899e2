import { type JsonObject, wireErrors } from "@berth/jsonrpc-framing";
import { ResultError, RpcError } from "../errors.js";
import { mcpErrors } from "../wire-errors.js";
import { forgetDenial, isAllowed } from "./authorize.js";
import type { ResourceContents } from "./content.js";
import type { RequestContext } from "./context.js";
import { type Core, complete, type Reply } from "./core.js";
import type { ReadResult, ResourceCall, ResourceDefinition } from "./definitions.js";
import { maxAddressLength } from "./limits.js";
import type { Listed } from "./list.js";
import { relayRead } from "./relayed-resource.js";
import type { Relay } from "./relayed-rounds.js";
import { contentsFault } from "./result-check.js";
import { openState } from "./rounds.js";
import { ResourceScope } from "./scope.js";

/** What answers for an address: the server itself, or another one. */
type Found<P> = FoundHere<P> | FoundElsewhere<P>;
interface FoundHere<P> {
  readonly variables: Readonly<Record<string, string>>;
  readonly mimeType: string | undefined;
  read(call: ResourceCall<P>): ReadResult | Promise<ReadResult>;
}

interface FoundElsewhere<P> {
  readonly relay: Relay<P>;
}

/** `resources/read`. */
export async function readResource<P>(core: Core<P>, context: RequestContext<P>): Promise<Reply> {
  const uri = readUri(context);
  const found = await findResource(core, context, uri);
  if (found === undefined) throw notFound(context, uri);
  if ("relay" in found) return relayRead(core, context, uri, found.relay);
  openState(core, context);
  const result = await found.read(new ResourceScope(context, core.compiler, uri, found.variables));
  if (result === undefined) throw notFound(context, uri);
  const contents = listOf(result).map((one) => toContents(one, uri, found.mimeType));
  return complete(core, context, context.era === "modern" ? { contents, ...core.hints } : { contents });
}

/** `resources/subscribe`, legacy. */
export async function subscribe<P>(core: Core<P>, context: RequestContext<P>): Promise<Reply> {
  const uri = readUri(context);
  const found = await findResource(core, context, uri);
  if (found === undefined) throw notFound(context, uri);
  if ("relay" in found) throw new RpcError(wireErrors.invalidParams, "nobody can subscribe to this resource");
  context.connection.subscribe(uri);
  return {};
}

/** `resources/unsubscribe`, legacy. */
export function unsubscribe<P>(_core: Core<P>, context: RequestContext<P>): Reply {
  context.connection.unsubscribe(readUri(context));
  return {};
}

/** @throws {RpcError} -32602: addresses are kept, and told again. */
export function requireAddressLength(uri: string): void {
  if (uri.length <= maxAddressLength) return;
  throw new RpcError(wireErrors.invalidParams, `the address is longer than ${maxAddressLength} characters`);
}

function readUri<P>(context: RequestContext<P>): string {
  const { uri } = context.params;
  if (typeof uri !== "string") throw new RpcError(wireErrors.invalidParams, `${context.method} needs uri, a string`);
  requireAddressLength(uri);
  context.name = uri;
  return uri;
}

/**
 * Undefined for what does not exist and for what the principal may not read: they look alike. A template that one may not use is passed over, but none opens an
 * address that is registered by itself with a permission of its own.
 */
export async function findResource<P>(
  core: Core<P>,
  context: RequestContext<P>,
  uri: string,
): Promise<Found<P> | undefined> {
  const { registry, options } = core;
  const { relayed } = registry;
  const resource = registry.resources.get(uri) ?? relayed.resources.get(uri);
  if (resource !== undefined) {
    if (!(await isAllowed(options.authorize, context, "resource", resource))) return undefined;
    return "relay" in resource ? resource : foundHere(resource.definition, {});
  }
  const found = await findByTemplate(core, context, uri);
  const { addresses } = relayed;
  if (found !== undefined || addresses === undefined) return found;
  const { permission } = addresses;
  if (!(await isAllowed(options.authorize, context, "resource", { name: uri, permission }))) return undefined;
  forgetDenial(context); // by a template before it
  return addresses;
}

async function findByTemplate<P>(
  { registry, options: { authorize } }: Core<P>,
  context: RequestContext<P>,
  uri: string,
): Promise<Found<P> | undefined> {
  const isOpen = async (template: Pick<Listed, "name" | "permission">): Promise<boolean> => {
    if (!(await isAllowed(authorize, context, "resourceTemplate", template))) return false;
    forgetDenial(context); // by a template before it
    return true;
  };
  for (const template of registry.templates.values()) {
    const variables = template.pattern.match(uri);
    if (variables !== undefined && (await isOpen(template))) return foundHere(template.definition, variables);
  }
  for (const template of registry.relayed.templates.values()) {
    if (template.matches(uri) && (await isOpen(template))) return template;
  }
  return undefined;
}

function foundHere<P>(
  definition: Pick<ResourceDefinition<P>, "mimeType" | "read">,
  variables: Readonly<Record<string, string>>,
): FoundHere<P> {
  return { variables, mimeType: definition.mimeType, read: (call) => definition.read(call) };
}

function notFound<P>({ era }: RequestContext<P>, uri: string): RpcError {
  const code = era === "modern" ? wireErrors.invalidParams : mcpErrors.resourceNotFound;
  return new RpcError(code, "Resource not found", { data: { uri } });
}

function listOf(result: Exclude<ReadResult, undefined>): readonly ResourceContents[] {
  if (typeof result === "string") return [{ text: result }];
  return isList(result) ? result : [result];
}

function isList(result: ResourceContents | readonly ResourceContents[]): result is readonly ResourceContents[] {
  return Array.isArray(result);
}

function toContents(one: ResourceContents, uri: string, mimeType: string | undefined): JsonObject {
  const fault = contentsFault(one);
  if (fault !== undefined) throw new ResultError(`reading "${uri}" returned what ${fault}`);
  return mimeType === undefined ? { uri, ...one } : { uri, mimeType, ...one };
}
