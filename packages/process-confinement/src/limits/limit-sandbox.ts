import { foldersToWatch } from "../disk-watch/watched-folders.js";
import type { SandboxTerms } from "../reading/sandbox-terms.js";
import type { LimitEnforcement } from "../sandbox.js";
import type { ControlGroups } from "./control-groups.js";
import { innerPrefix, joinLine } from "./join.js";
import { type LimitsHost, thisLimitsHost } from "./limits-host.js";
import { makeControlGroups } from "./make-groups.js";
import { planLimits } from "./plan.js";

/** How the limits of one sandbox are held. */
export interface SandboxLimits {
  readonly enforced: readonly LimitEnforcement[];
  /** Goes before the first process inside. */
  readonly innerPrefix: readonly string[];
  /** The one step that leaves something behind: whoever calls it ends the groups. */
  makeGroups(): ControlGroups;
  /** The beginning of the line by which a shell becomes bubblewrap. */
  joinLine(groups: ControlGroups): string;
}

/** @throws {ConfinementError} `LIMIT_NOT_ENFORCEABLE`. */
export function limitSandbox(
  { name, policy, asPid1 }: SandboxTerms,
  host: LimitsHost = thisLimitsHost(),
): SandboxLimits {
  const forwarder = policy.egress?.forwarder === "helper" ? 1 : 0;
  const own = { outside: 1, inside: (asPid1 ? 0 : 1) + forwarder };
  const plan = planLimits(policy.limits, own, host, foldersToWatch(policy).length > 0);
  return {
    enforced: [...plan.enforced, ...memoryFileSystems(policy)],
    innerPrefix: innerPrefix(plan),
    makeGroups: () => makeControlGroups(plan.groups, name),
    joinLine: ({ paths }) => joinLine(plan, paths),
  };
}

function memoryFileSystems({ tmpBytes, workspace }: SandboxTerms["policy"]): readonly LimitEnforcement[] {
  const by = "memory-file-system";
  const bytes = workspace?.memoryBytes;
  const ofTmp = { limit: "tmpBytes", value: tmpBytes, by } as const;
  return bytes === undefined ? [ofTmp] : [ofTmp, { limit: "workspaceBytes", value: bytes, by }];
}
