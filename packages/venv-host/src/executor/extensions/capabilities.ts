/** The capability names that a Python worker accepts; with any other one it refuses every call. */
export const pythonCapabilities = [
  "read_subject",
  "read_roles",
  "read_teams",
  "read_claims",
  "read_permissions",
  "read_agent",
  "read_headers",
  "write_headers",
  "read_labels",
  "append_labels",
  "read_delegation",
  "append_delegation",
] as const;

/** Capabilities that open something at the host only. */
const HOST_CAPABILITIES = [
  "read_client",
  "read_workload",
  "write_candidate_constraint",
  "read_inbound_credentials",
  "read_delegated_tokens",
] as const;

/** All that an entry may declare. */
export const knownCapabilities: ReadonlySet<string> = new Set<string>([...pythonCapabilities, ...HOST_CAPABILITIES]);

/** A guarded part of the extensions. */
export type GuardedPart =
  | "agent"
  | "http"
  | "labels"
  | "subject"
  | "roles"
  | "teams"
  | "claims"
  | "permissions"
  | "client"
  | "workload"
  | "delegation";

/** A part that a plugin may change when it declares the capability. */
export type WritablePart = "http" | "labels" | "delegation";

/** Any one of these opens the part. To write is to see: what may be appended to must be known (as the Python framework has it). */
const OPENED_BY: Readonly<Record<GuardedPart, readonly string[]>> = {
  agent: ["read_agent"],
  http: ["read_headers", "write_headers"],
  labels: ["read_labels", "append_labels"],
  subject: ["read_subject", "read_roles", "read_teams", "read_claims", "read_permissions"],
  roles: ["read_roles"],
  teams: ["read_teams"],
  claims: ["read_claims"],
  permissions: ["read_permissions"],
  client: ["read_client"],
  workload: ["read_workload"],
  delegation: ["read_delegation", "append_delegation"],
};

const WRITTEN_WITH: Readonly<Record<WritablePart, string>> = {
  http: "write_headers",
  labels: "append_labels",
  delegation: "append_delegation",
};

/** Whether the capabilities let a plugin see the part. */
export function maySee(capabilities: ReadonlySet<string>, part: GuardedPart): boolean {
  return OPENED_BY[part].some((name) => capabilities.has(name));
}

/** The parts that the capabilities let a plugin change. */
export function writableParts(capabilities: ReadonlySet<string>): ReadonlySet<WritablePart> {
  const parts: readonly WritablePart[] = ["http", "labels", "delegation"];
  return new Set(parts.filter((part) => capabilities.has(WRITTEN_WITH[part])));
}
