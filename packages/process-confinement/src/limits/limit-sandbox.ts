import type { SandboxTerms } from "../reading/sandbox-terms.js";
import type { LimitEnforcement } from "../sandbox.js";
import { guardDevices, ownsDevices } from "../start/guard-devices.js";
import type { ConfinementHost } from "../start/host.js";
import { watchSetUp } from "../start/watch-set-up.js";
import type { ControlGroups } from "./control-groups.js";
import { innerPrefix, joinPrefix } from "./join.js";
import { thisLimitsHost } from "./limits-host.js";
import { makeControlGroups } from "./make-groups.js";
import { planLimits } from "./plan.js";

/** How the limits of one sandbox are held. */
export interface SandboxLimits {
  readonly enforced: readonly LimitEnforcement[];
  /** Goes before the first process inside. */
  readonly innerPrefix: readonly string[];
  /** The one step that leaves something behind: whoever calls it ends the groups. */
  makeGroups(): ControlGroups;
  /** Goes before bubblewrap. */
  prefix(groups: ControlGroups): readonly string[];
}

/** @throws {ConfinementError} `LIMIT_NOT_ENFORCEABLE`, `CONFINEMENT_UNAVAILABLE`. */
export function limitSandbox(host: ConfinementHost, { name, policy, asPid1 }: SandboxTerms): SandboxLimits {
  const forwarder = policy.egress?.forwarder === "helper" ? 1 : 0;
  const own = { outside: 1, inside: (asPid1 ? 0 : 1) + forwarder };
  const plan = planLimits(policy.limits, own, thisLimitsHost(host.findTool));
  // Without a limit to hold a group is work for nothing: process 1's end ends everything anyway.
  const groups = plan.groups.some(({ writes }) => writes.length > 0) ? plan.groups : [];
  const guard = guardDevices(ownsDevices(), host);
  return {
    enforced: [...plan.enforced, ...memoryFileSystems(policy)],
    innerPrefix: innerPrefix(plan),
    makeGroups: () => makeControlGroups(groups, name),
    prefix: ({ paths }) => [...guard.before, ...joinPrefix(plan, paths, [watchSetUp, ...guard.steps])],
  };
}

function memoryFileSystems({ tmpBytes, workspace }: SandboxTerms["policy"]): readonly LimitEnforcement[] {
  const by = "memory-file-system";
  const bytes = workspace?.memoryBytes;
  const ofTmp = { limit: "tmpBytes", value: tmpBytes, by } as const;
  return bytes === undefined ? [ofTmp] : [ofTmp, { limit: "workspaceBytes", value: bytes, by }];
}
