import { openSandbox, type Sandbox, type SandboxExit } from "@berth/process-confinement";
import type { EnvironmentEnd } from "../environment.js";
import type { GuestHost, GuestPlaces } from "../guest/guest-host.js";
import type { ProfileTerms } from "../profile.js";
import type { GuestProgram } from "../workers/guest-program.js";
import { becomesTrue } from "../workers/kill-until-gone.js";
import { standardEnv } from "../workers/standard-env.js";
import type { WorkerFolder } from "../workers/worker-folder.js";
import type { MeasuredMounts } from "./measure-mounts.js";
import { inside } from "./places.js";

export interface SandboxHostOptions {
  readonly folder: WorkerFolder;
  readonly program: GuestProgram;
  readonly places: GuestPlaces;
  readonly profile: ProfileTerms;
  readonly mounts: MeasuredMounts;
  readonly signal?: AbortSignal | undefined;
}

/** Starts an agent as the first process of a sandbox. It runs nothing before its identity is on disk. */
export async function startSandbox(options: SandboxHostOptions): Promise<GuestHost> {
  const { folder, program, places, profile, mounts, signal } = options;
  const { workspaceBytes, tmpBytes, ...limits } = profile.policy.limits;
  const sandbox = await openSandbox({
    name: folder.name,
    file: program.interpreter,
    args: ["-I", "-S", "-B", `${inside.guest}/main.pyc`, "--handshake"],
    env: { ...standardEnv(places), ...profile.env },
    handshake: "command",
    asPid1: true,
    record: (identity) => folder.writeIdentity(identity),
    signal,
    policy: {
      readOnly: readOnlyBinds(options),
      readWrite: mounts.writable.map(({ source, target, maxBytes }) => ({ source, target, maxBytes })),
      noGrowth: mounts.restriction !== undefined,
      workspace: { kind: "memory", maxBytes: workspaceBytes, target: places.workspace },
      tmpBytes,
      network:
        profile.policy.network === "allowlist"
          ? { mode: "allowlist", socket: folder.egressSocket, forwarder: "command" }
          : { mode: "none" },
      limits,
    },
  });
  return hostOf(sandbox);
}

function readOnlyBinds({
  folder,
  program,
  places,
  profile,
}: SandboxHostOptions): readonly { source: string; target: string }[] {
  return [
    { source: program.folder, target: inside.guest },
    { source: folder.dialSocket, target: places.dial },
    ...(places.wheels === undefined ? [] : [{ source: places.wheels.outside, target: places.wheels.inside }]),
    ...profile.mounts.filter(({ writable }) => writable !== true).map(({ source, target }) => ({ source, target })),
  ];
}

function hostOf(sandbox: Sandbox): GuestHost {
  return {
    stdin: sandbox.stdin,
    stdout: sandbox.stdout,
    stderr: sandbox.stderr,
    enforced: sandbox.enforced,
    exited: sandbox.exited.then((exit) => ({ ...describeExit(exit), code: exit.code, memoryKills: exit.memoryKills })),
    usage: () => {
      const { memoryBytes, processes } = sandbox.usage();
      return { memoryBytes, processes };
    },
    kill: () => killUntilConfirmed(sandbox),
  };
}

/** One attempt of the sandbox takes some seconds; what is only slow is waited for. Rejects with what the last attempt said. */
async function killUntilConfirmed(sandbox: Sandbox): Promise<void> {
  let failure: unknown;
  const isGone = await becomesTrue(() =>
    sandbox.kill().then(
      () => true,
      (error: unknown) => {
        failure = error;
        return false;
      },
    ),
  );
  if (!isGone) throw failure;
}

function describeExit({ reason, code, signal, memoryKills }: SandboxExit): EnvironmentEnd {
  switch (reason) {
    case "memory":
      return { reason, detail: `the kernel killed ${memoryKills ?? "some"} of its processes for memory` };
    case "disk":
      return {
        reason,
        detail:
          "a writable mount held more than its maxBytes: until there is room again the next ones can only read and remove its files; the operator may raise maxBytes",
      };
    case "output":
    case "closed":
      return { reason, detail: reason };
    case "killed":
    case "signalled":
      return { reason: "signal", detail: signal ?? "unknown" };
    case "exited":
      return { reason: "exit", detail: `exit status ${code}` };
  }
}
