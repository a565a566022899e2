import type { JsonObject, JsonValue } from "./json.js";

/** A delegation step. */
export interface DelegationHop {
  readonly subjectId: string;
  readonly subjectType: string;
  readonly audience?: string | undefined;
  readonly scopesGranted: readonly string[];
  readonly strategy?: string | undefined;
  /** Other members, under their names on the wire: `timestamp`, `ttl_seconds`, `from_cache`. */
  readonly [name: string]: JsonValue | undefined;
}

/** HTTP as a request shows it. Header names in any case; each is kept as it came. */
export interface HttpExtension {
  readonly requestHeaders: Readonly<Record<string, string>>;
  readonly responseHeaders: Readonly<Record<string, string>>;
  readonly method?: string | undefined;
  readonly path?: string | undefined;
  readonly host?: string | undefined;
  readonly scheme?: string | undefined;
}

/** Who asks, and what is known of that. */
export interface SecurityExtension {
  /** Only ever grows. */
  readonly labels: readonly string[];
  readonly classification?: string | undefined;
  readonly subject?: SubjectExtension | undefined;
  readonly objects?: JsonObject | undefined;
  readonly data?: JsonObject | undefined;
  readonly client?: JsonObject | undefined;
  readonly callerWorkload?: JsonObject | undefined;
  readonly thisWorkload?: JsonObject | undefined;
  readonly authMethod?: string | undefined;
}

/** The principal of a request. */
export interface SubjectExtension {
  readonly id: string;
  readonly type: string;
  readonly roles: readonly string[];
  readonly teams: readonly string[];
  readonly permissions: readonly string[];
  readonly claims: JsonObject;
}

/** Who acts for whom. */
export interface DelegationExtension {
  /** Only ever grows at its end. */
  readonly chain: readonly DelegationHop[];
  readonly depth: number;
  readonly originSubjectId?: string | undefined;
  readonly actorSubjectId?: string | undefined;
  readonly delegated: boolean;
  readonly ageSeconds?: number | undefined;
}

/** The host's own view of one request: everything. Plugins see parts of it (CPEX fact sheet § 6). */
export interface Extensions {
  readonly request?: JsonObject | undefined;
  readonly agent?: JsonObject | undefined;
  readonly http?: HttpExtension | undefined;
  readonly security?: SecurityExtension | undefined;
  readonly delegation?: DelegationExtension | undefined;
  readonly mcp?: JsonObject | undefined;
  readonly completion?: JsonObject | undefined;
  readonly provenance?: JsonObject | undefined;
  readonly llm?: JsonObject | undefined;
  readonly framework?: JsonObject | undefined;
  readonly meta?: JsonObject | undefined;
  readonly custom?: JsonObject | undefined;
}

/** What one plugin may see, in wire form: made by the executor only. */
export type ExtensionsView = JsonObject & { readonly [extensionsViewBrand]?: never };
declare const extensionsViewBrand: unique symbol;

/** What a plugin sent back as `modified_extensions`: an object, nothing else is known of it. */
export type ReturnedExtensions = JsonObject;
