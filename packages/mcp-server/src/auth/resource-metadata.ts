import type { JsonObject } from "@berth/jsonrpc-framing";
import { aText, checkOptions, type OptionKinds, optional, textsOf } from "../option-check.js";
import { optionFault } from "./errors.js";
import { readScopes } from "./scopes.js";
import { readAddress } from "./web-address.js";

/** What clients are told of this server and of who gives out tokens for it (RFC 9728 § 2). */
export interface ProtectedResource {
  /** The MCP endpoint as clients address it; also what tokens have to name as their audience: `https://mcp.example.com/mcp`. https, or http on loopback. */
  readonly resource: string;
  /** Issuers of tokens: one or more, https, or http on loopback (MCP 2025-11-25, Authorization § Authorization Server Location). */
  readonly authorizationServers: readonly string[];
  /** The least that is useful. Default: the scopes that are required, if any are. */
  readonly scopesSupported?: readonly string[] | undefined;
  /** For people. */
  readonly name?: string | undefined;
  /** Address of documentation for developers. */
  readonly documentation?: string | undefined;
}

/** The documents by their paths, and where a challenge sends clients. */
export interface ResourceDocuments {
  readonly url: string;
  readonly documents: ReadonlyMap<string, JsonObject>;
}

const resourceOptions = {
  resource: aText,
  authorizationServers: textsOf("addresses"),
  scopesSupported: optional(textsOf("scopes")),
  name: optional(aText),
  documentation: optional(aText),
} as const satisfies OptionKinds<ProtectedResource>;

const wellKnown = "/.well-known/oauth-protected-resource";

/**
 * One document at two places: with the path of the resource (RFC 9728 § 3.1), and without, where MCP's clients look last.
 * @throws {AuthError} `AUTH_OPTIONS_INVALID`.
 */
export function createResourceDocuments(given: ProtectedResource, required: readonly string[]): ResourceDocuments {
  checkOptions(given, resourceOptions, { of: "metadata", fault: optionFault });
  const url = readAddress("metadata.resource", given.resource);
  if (given.authorizationServers.length === 0) optionFault("metadata.authorizationServers is empty");
  for (const issuer of given.authorizationServers) readAddress("metadata.authorizationServers", issuer);
  if (given.documentation !== undefined) readAddress("metadata.documentation", given.documentation, { query: true });
  const scopes = readScopes("metadata.scopesSupported", given.scopesSupported ?? required);
  const document: JsonObject = {
    resource: given.resource,
    authorization_servers: [...given.authorizationServers],
    bearer_methods_supported: ["header"],
    ...(scopes.length > 0 && { scopes_supported: [...scopes] }),
    ...(given.name !== undefined && { resource_name: given.name }),
    ...(given.documentation !== undefined && { resource_documentation: given.documentation }),
  };
  const path = `${wellKnown}${url.pathname === "/" ? "" : url.pathname}`;
  return {
    url: `${url.origin}${path}`,
    documents: new Map([
      [wellKnown, document],
      [path, document],
    ]),
  };
}
