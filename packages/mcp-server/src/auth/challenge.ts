/** The parameters of a `Bearer` challenge (RFC 6750 § 3, RFC 9728 § 5.1). */
export interface ChallengeParameters {
  readonly error?: "invalid_request" | "invalid_token" | "insufficient_scope" | undefined;
  readonly scope?: string | undefined;
  readonly resource_metadata?: string | undefined;
}

/** A `WWW-Authenticate` header. RFC 6750 wants one parameter at least, so where there is nothing to say it names a realm. */
export function formatChallenge({ error, scope, resource_metadata }: ChallengeParameters): string {
  const parameters = Object.entries({ error, resource_metadata, scope }).flatMap(([name, value]) =>
    value === undefined || value === "" ? [] : [`${name}=${quote(value)}`],
  );
  return `Bearer ${parameters.length === 0 ? 'realm="mcp"' : parameters.join(", ")}`;
}

/** A quoted string (RFC 9110 § 5.6.4). What no header may hold is left out; the readers of options have refused it already. */
function quote(value: string): string {
  return `"${value.replace(/[^ -~]/g, "").replace(/["\\]/g, "\\$&")}"`;
}
