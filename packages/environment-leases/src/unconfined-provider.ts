import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import type { RuntimeCapabilities } from "./capabilities.js";
import { LeaseError } from "./errors.js";
import { listenForDials } from "./guest/dial-listener.js";
import { openGuestEnvironment } from "./guest/guest-environment.js";
import type { GuestHost, GuestPlaces } from "./guest/guest-host.js";
import type { GuestLimits } from "./guest/guest-limits.js";
import { bootId, startTimeOf } from "./process-identity.js";
import type { ProfileTerms } from "./profile.js";
import type { ManagedProvider } from "./provider.js";
import { killMarked } from "./unconfined/kill-marked.js";
import { startUnconfined } from "./unconfined/unconfined-host.js";
import { findMarked } from "./workers/find-processes.js";
import { openGuestPrograms } from "./workers/guest-program.js";
import { manageWorkers, type WorkerKind } from "./workers/managed-provider.js";
import { readProviderOptions } from "./workers/provider-options.js";
import { standardEnv } from "./workers/standard-env.js";
import { openWorkersFolder, type WorkerFolder } from "./workers/worker-folder.js";

/** What a provider without sandboxes works with. */
export interface UnconfinedProviderOptions {
  /** Absolute path of the folder for what belongs to workers: made 0700 when it is absent, and short, since sockets lie in it. */
  readonly folder: string;
  /** As profiles name it: 1 to 64 letters, digits, dots, dashes, underscores. Default `unconfined`. */
  readonly name?: string | undefined;
  readonly limits?: GuestLimits | undefined;
}

const optionNames = ["folder", "name", "limits"] as const satisfies readonly (keyof UnconfinedProviderOptions)[];

// It lists only what it can hold: a process of this user has this machine's network and whatever rights the user has.
const capabilities: RuntimeCapabilities = {
  isolated: false,
  platforms: [process.platform],
  networkModes: ["internet"],
  elevationModes: [true],
  packageModes: ["disabled", "environment"],
  exposureModes: [false, true],
  shell: true,
  limits: [],
  advice: {
    none: "An unconfined environment has this machine's network: write network: internet, or use the bubblewrap provider.",
    allowlist:
      "An unconfined environment has this machine's network: write network: internet, or use the bubblewrap provider.",
    "no-elevation":
      "An unconfined environment has the rights of this user: write elevation: true, or use the bubblewrap provider.",
  },
};

/**
 * Environments that are plain processes of this user: nothing keeps them from this machine's files, network and processes.
 * For machines without sandboxes, and only where the operator said so. Same agent inside, same promises about ends, except
 * that what a process hides from (its mark in the environment) is not found again after the agent was killed.
 * @throws {LeaseError} `OPTION_INVALID`.
 */
export async function createUnconfinedProvider(options: UnconfinedProviderOptions): Promise<ManagedProvider> {
  const { name, bounds } = readProviderOptions(options, { known: optionNames, usualName: "unconfined" });
  const workers = await openWorkersFolder(options.folder);
  const programs = await openGuestPrograms(workers.path);
  const kind: WorkerKind = {
    name,
    capabilities,
    async start(folder, profile, { deadlineMs, signal }) {
      checkMounts(profile);
      const program = await programs.prepare(profile.template, signal);
      const places = await makePlaces(folder, profile, program.interpreter);
      const listener = await listenForDials({ path: folder.dialSocket, bounds });
      let host: GuestHost;
      try {
        host = await startUnconfined(folder, program, { ...standardEnv(places), ...profile.env });
      } catch (error) {
        await listener.close();
        throw error;
      }
      const cleanup = (): Promise<void> => folder.remove();
      return openGuestEnvironment({ host, listener, places, profile, bounds, deadlineMs, cleanup, signal });
    },
    presence,
    kill: killLeftovers,
  };
  return manageWorkers(kind, workers, bounds.maxStarts);
}

/** What cannot be put at another path without a mount namespace is refused, and so is a bound that nothing watches. */
function checkMounts(profile: ProfileTerms): void {
  const bounded = profile.mounts.find(({ maxBytes }) => maxBytes !== undefined);
  if (bounded !== undefined) {
    const message = `maxBytes of ${bounded.target} cannot be held without a sandbox`;
    throw new LeaseError("ENVIRONMENT_NOT_CREATED", message, {
      cure: "leave maxBytes out, or use the bubblewrap provider",
    });
  }
  const moved = profile.mounts.find(({ source, target }) => source !== target);
  if (moved === undefined) return;
  throw new LeaseError(
    "ENVIRONMENT_NOT_CREATED",
    `${moved.source} cannot be shown at ${moved.target} without a sandbox`,
    {
      cure: "give mounts of an unconfined profile the same source and target",
    },
  );
}

async function makePlaces(folder: WorkerFolder, profile: ProfileTerms, interpreter: string): Promise<GuestPlaces> {
  const workspace = join(folder.path, "workspace");
  await mkdir(workspace, { mode: 0o700 });
  const packages = profile.policy.packages !== "disabled";
  if (packages) await mkdir(folder.wheels, { mode: 0o700 });
  return {
    workspace,
    interpreter,
    dial: folder.dialSocket,
    wheels: packages ? { outside: folder.wheels, inside: folder.wheels } : undefined,
  };
}

async function presence(folder: WorkerFolder): Promise<"yes" | "no" | "unknown"> {
  const marked = findMarked(folder.name);
  if (marked === undefined) return "unknown";
  return marked.length > 0 || (await agentOf(folder)) !== undefined ? "yes" : "no";
}

async function killLeftovers(folder: WorkerFolder): Promise<void> {
  const agent = await agentOf(folder);
  if (agent !== undefined) process.kill(agent, "SIGKILL");
  await killMarked(folder.name);
}

/** The agent's number, when the process that was written down still runs. It hides its environment from other programs of its user. */
async function agentOf(folder: WorkerFolder): Promise<number | undefined> {
  const identity = await folder.readIdentity();
  if (typeof identity !== "object" || identity === null) return undefined;
  if (!("pid" in identity && "startTime" in identity && "bootId" in identity)) return undefined;
  const { pid, startTime } = identity;
  if (typeof pid !== "number" || identity.bootId !== bootId()) return undefined;
  return startTime !== undefined && startTimeOf(pid) === startTime ? pid : undefined;
}
