import type { SessionEntry } from "@berth/audit-chain";
import type { HeldEnvironment } from "@berth/venv-host";
import type { HookDecision } from "@berth/venv-host/executor";

// Names of an entry's members are the log's format: see the README. No payload, context, header or token is in any of them.

/** Which plugin decided what, and the environment that answered. */
export function decisionEntry(decision: HookDecision): SessionEntry {
  const { plugin, hook, mode, status, durationMs, requestId, code, evidence } = decision;
  return {
    ...evidence,
    type: "plugin.decision",
    plugin,
    hook,
    mode,
    status,
    code,
    request: requestId,
    durationMs: Math.round(durationMs),
  };
}

/** What all plugins together said, and to whom. */
export function hookEntry(hook: {
  readonly hook: string;
  readonly request: string | undefined;
  readonly principal: string;
  readonly door: string;
  readonly outcome: "allowed" | "denied" | "failed";
  readonly plugin?: string | undefined;
  readonly code?: string | undefined;
}): SessionEntry {
  return { type: "plugin.hook", ...hook };
}

/** What a plugin's environment is made of, as it was measured. */
export function environmentEntry(plugin: string, { key, origin, reason, evidence }: HeldEnvironment): SessionEntry {
  const { digest, interpreter, installer, confinement, distributions } = evidence;
  return {
    type: "plugin.environment",
    plugin,
    origin,
    reason,
    environmentKey: key,
    environmentDigest: digest,
    pythonVersion: interpreter.version,
    pythonSha256: interpreter.sha256,
    installer,
    confinement,
    distributions: distributions.map(
      ({ name, version, recordSha256 }) => `${name}==${version} ${recordSha256 ?? "no record"}`,
    ),
  };
}

/** An environment that somebody else installed: nothing of it was measured. */
export function installedEntry(plugin: string, path: string): SessionEntry {
  return { type: "plugin.environment", plugin, origin: "installed", path };
}
