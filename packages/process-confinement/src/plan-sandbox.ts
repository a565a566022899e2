import type { SandboxPlan } from "./bubblewrap-argv.js";
import { findProgram } from "./find-program.js";
import type { Mount } from "./mounts.js";
import { placeMounts } from "./place-mounts.js";
import type { SandboxTerms } from "./sandbox-terms.js";
import { startScript } from "./start-script.js";
import { readSystemTree } from "./system-tree.js";

/** Where the socket of an egress proxy lies inside. */
export const egressSocketPath = "/run/berth/egress.sock";

/**
 * Decides what a sandbox is made of.
 * @throws {ConfinementError} `POLICY_INVALID` for targets that hide one another, and what `findProgram` throws.
 */
export function planSandbox(terms: SandboxTerms): SandboxPlan {
  const program = findProgram(terms.file);
  const command = [program.file, ...terms.args];
  return {
    mounts: placeMounts(readSystemTree(), policyMounts(terms), program.trees),
    tmpBytes: terms.policy.tmpBytes,
    env: terms.env,
    cwd: terms.cwd,
    asPid1: terms.asPid1,
    disableUserNamespaces: true,
    command: terms.handshake === "command" ? command : ["/bin/sh", "-c", startScript, "sh", ...command],
  };
}

/** A mount and the member of the policy that asked for it. */
export interface AskedMount {
  readonly field: string;
  readonly mount: Mount;
}

function policyMounts({ policy }: SandboxTerms): readonly AskedMount[] {
  const { workspace, egress } = policy;
  const binds = policy.binds.map(({ field, source, target, access }) => ({
    field,
    mount: { kind: access, source, target },
  }));
  const memory =
    workspace?.memoryBytes === undefined
      ? []
      : [{ field: "workspace", mount: memoryMount(workspace.target, workspace.memoryBytes) }];
  // A socket is connected to through a read-only mount, too; nothing else can be done to it then.
  const socket: readonly AskedMount[] =
    egress === undefined
      ? []
      : [{ field: "network.socket", mount: { kind: "read", source: egress.socket, target: egressSocketPath } }];
  return [...binds, ...memory, ...socket];
}

function memoryMount(target: string, bytes: number): Mount {
  return { kind: "memory", target, bytes, mode: "0755" };
}
