import { type CopyOptions, copyJsonObject } from "../bounded-json.js";
import type { Extensions, ExtensionsView, HttpExtension, SecurityExtension, SubjectExtension } from "../extensions.js";
import { maySee } from "./capabilities.js";
import { wireDelegation } from "./delegation-chain.js";
import { withoutSensitive } from "./header-map.js";

type Wire = Readonly<Record<string, unknown>>;

/** Slots that every plugin sees, and none may change. */
export const OPEN_SLOTS = ["request", "mcp", "completion", "provenance", "llm", "framework", "meta"] as const;

/** What a plugin with these capabilities sees, in wire form, as a copy; undefined when that is nothing (CPEX fact sheet § 6). */
export function viewExtensions(
  extensions: Extensions | undefined,
  capabilities: ReadonlySet<string>,
  copying: CopyOptions,
): ExtensionsView | undefined {
  if (extensions === undefined) return undefined;
  const { agent, http, security, delegation, custom } = extensions;
  const view: Wire = {
    ...Object.fromEntries(OPEN_SLOTS.map((slot) => [slot, extensions[slot]])),
    agent: maySee(capabilities, "agent") ? agent : undefined,
    http: http !== undefined && maySee(capabilities, "http") ? viewHttp(http) : undefined,
    security: security === undefined ? undefined : viewSecurity(security, capabilities),
    delegation: delegation !== undefined && maySee(capabilities, "delegation") ? wireDelegation(delegation) : undefined,
    custom,
  };
  return isEmpty(view) ? undefined : copyJsonObject(view, copying);
}

/** Both shapes: the Python model has `headers` alone, the Rust one the two maps and the request line. */
function viewHttp(http: HttpExtension): Wire | undefined {
  const requestHeaders = withoutSensitive(http.requestHeaders ?? {});
  const responseHeaders = withoutSensitive(http.responseHeaders ?? {});
  const { method, path, host, scheme } = http;
  const isBare = isEmpty({ method, path, host, scheme });
  if (isBare && isEmpty(requestHeaders) && isEmpty(responseHeaders)) return undefined;
  return {
    headers: requestHeaders,
    request_headers: requestHeaders,
    response_headers: responseHeaders,
    method,
    path,
    host,
    scheme,
  };
}

function viewSecurity(security: SecurityExtension, capabilities: ReadonlySet<string>): Wire | undefined {
  const { labels, classification, subject, objects, data, client, callerWorkload, thisWorkload, authMethod } = security;
  const seesWorkload = maySee(capabilities, "workload");
  const view: Wire = {
    labels: maySee(capabilities, "labels") && (labels ?? []).length > 0 ? labels : undefined,
    classification,
    subject: subject === undefined ? undefined : viewSubject(subject, capabilities),
    objects,
    data,
    client: maySee(capabilities, "client") ? client : undefined,
    caller_workload: seesWorkload ? callerWorkload : undefined,
    this_workload: seesWorkload ? thisWorkload : undefined,
    auth_method: authMethod,
  };
  return isEmpty(view) ? undefined : view;
}

/** A subject without id or type is left out: with one, a worker would drop all extensions of the call. */
function viewSubject(subject: SubjectExtension, capabilities: ReadonlySet<string>): Wire | undefined {
  const { id, type, roles, teams, permissions, claims } = subject;
  if (typeof id !== "string" || typeof type !== "string" || !maySee(capabilities, "subject")) return undefined;
  return {
    id,
    type,
    roles: maySee(capabilities, "roles") ? roles : undefined,
    teams: maySee(capabilities, "teams") ? teams : undefined,
    permissions: maySee(capabilities, "permissions") ? permissions : undefined,
    claims: maySee(capabilities, "claims") ? textClaims(claims ?? {}) : undefined,
  };
}

/** The Python model takes texts only; any other claim goes as its JSON, else it would cost the plugin all extensions. */
function textClaims(claims: Wire): Wire {
  return Object.fromEntries(
    Object.entries(claims).map(([name, value]) => [name, typeof value === "string" ? value : JSON.stringify(value)]),
  );
}

function isEmpty(members: Wire): boolean {
  return Object.values(members).every((value) => value === undefined);
}
