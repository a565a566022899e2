import { ConfinementError } from "../errors.js";
import { findProgram, type Program } from "../program/find-program.js";
import type { SandboxTerms } from "../reading/sandbox-terms.js";
import type { SandboxPlan } from "./bubblewrap-argv.js";
import { egressSocketPath, forwarderCommand, withProxyVariables } from "./forwarder.js";
import type { AskedMount, Mount } from "./mounts.js";
import { placeMounts } from "./place-mounts.js";
import { startCommand } from "./start-script.js";
import { readSystemTree } from "./system-tree.js";

/** What stands between bubblewrap and the command, beside the handshake. */
export interface PlanSurroundings {
  readonly findTool: (name: string) => string | undefined;
  /** Program and arguments that set limits inside; may be empty. */
  readonly innerPrefix: readonly string[];
}

/** What a sandbox is made of, and what runs in it in the end: the program and its arguments. */
export interface PlannedSandbox extends SandboxPlan {
  readonly program: readonly string[];
}

/**
 * Decides what a sandbox is made of.
 * @throws {ConfinementError} `POLICY_INVALID` for targets that hide one another, `CONFINEMENT_UNAVAILABLE` without a program
 * that could forward to the proxy, and what `findProgram` throws.
 */
export function planSandbox(terms: SandboxTerms, surroundings: PlanSurroundings): PlannedSandbox {
  const found = findProgram(terms.file);
  const program = [found.file, ...terms.args];
  const { egress } = terms.policy;
  const duties = {
    handshake: terms.handshake,
    forwarder: egress?.forwarder === "helper" ? findForwarder(found, surroundings) : undefined,
  };
  return {
    mounts: placeMounts(readSystemTree(), policyMounts(terms), found.trees),
    tmpBytes: terms.policy.tmpBytes,
    env: egress === undefined ? terms.env : withProxyVariables(terms.env),
    cwd: terms.cwd,
    asPid1: terms.asPid1,
    disableUserNamespaces: true,
    command: [
      ...surroundings.innerPrefix,
      ...startCommand(duties),
      // What it is to become is told to one that waits.
      ...(terms.handshake === "handed" ? [] : program),
    ],
    program,
  };
}

function findForwarder({ python }: Program, { findTool }: PlanSurroundings): readonly string[] {
  const isInside = (tool: string | undefined): boolean => tool?.startsWith("/usr/") ?? false;
  const [socat, systemPython] = ["socat", "python3"].map(findTool).map((tool) => (isInside(tool) ? tool : undefined));
  const forwarder = forwarderCommand({ socat, python: python ?? systemPython });
  if (forwarder !== undefined) return forwarder;
  throw new ConfinementError("CONFINEMENT_UNAVAILABLE", "nothing here can forward a port to the egress proxy", {
    field: "network.forwarder",
    cure: "install socat (apt-get install socat) or Python, or let the command do it (forwarder: command)",
  });
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
