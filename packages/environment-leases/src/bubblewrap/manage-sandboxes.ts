import { mkdir } from "node:fs/promises";
import { type EnforcementReport, egressPort, egressSocketPath } from "@berth/process-confinement";
import { createEgressProxy, type EgressDecision, type EgressProxy } from "@berth/process-confinement/egress";
import type { DisposableEnvironment } from "../environment.js";
import { listenForDials } from "../guest/dial-listener.js";
import { openGuestEnvironment } from "../guest/guest-environment.js";
import type { GuestPlaces } from "../guest/guest-host.js";
import type { GuestBounds, GuestLimits } from "../guest/guest-limits.js";
import type { ProfileTerms } from "../profile.js";
import type { CreateOptions, ManagedProvider, WorkerName } from "../provider.js";
import { type GuestPrograms, openGuestPrograms } from "../workers/guest-program.js";
import { manageWorkers } from "../workers/managed-provider.js";
import { readProviderOptions } from "../workers/provider-options.js";
import { openWorkersFolder, type WorkerFolder } from "../workers/worker-folder.js";
import { noCapabilities, sandboxCapabilities } from "./capabilities.js";
import { egressRules } from "./egress-rules.js";
import { killLeftovers, presenceOf } from "./leftovers.js";
import { measureMounts } from "./measure-mounts.js";
import { inside } from "./places.js";
import { startSandbox } from "./sandbox-host.js";

/** What a provider of sandboxes works with. */
export interface BubblewrapProviderOptions {
  /** Absolute path of the folder for what belongs to workers: made 0700 when it is absent, and short, since sockets lie in it. */
  readonly folder: string;
  /** As profiles name it: 1 to 64 letters, digits, dots, dashes, underscores. Default `bubblewrap`. */
  readonly name?: string | undefined;
  readonly limits?: GuestLimits | undefined;
  /** Told of every connection that a worker with an allow list asked for. */
  readonly onEgressDecision?: ((worker: WorkerName, decision: EgressDecision) => void) | undefined;
  /**
   * Of a `probe` of this machine that was made already, by this process: a limit that was not tried in it is refused. Default:
   * everything is tried.
   */
  readonly report?: EnforcementReport | undefined;
  /**
   * Makes no workers, and ends those that earlier processes left. Then nothing is tried and nothing has to hold, so that it
   * works on a machine that has lost its sandboxes or is too busy to show them. Default false.
   */
  readonly endsOnly?: boolean | undefined;
  /** Ends the probe. */
  readonly signal?: AbortSignal | undefined;
}

const optionNames = [
  "folder",
  "name",
  "limits",
  "onEgressDecision",
  "report",
  "endsOnly",
  "signal",
] as const satisfies readonly (keyof BubblewrapProviderOptions)[];

/** The provider on a machine that holds what the report says; without one it only ends. */
export async function manageSandboxes(
  options: BubblewrapProviderOptions,
  report: EnforcementReport | undefined,
): Promise<ManagedProvider> {
  const { name, bounds } = readProviderOptions(options, { known: optionNames, usualName: "bubblewrap" });
  const capabilities = report === undefined ? noCapabilities : sandboxCapabilities(report);
  const workers = await openWorkersFolder(options.folder);
  const programs = await openGuestPrograms(workers.path);
  return manageWorkers(
    {
      name,
      capabilities,
      start: (folder, profile, terms) => start({ options, bounds, programs, folder, profile, terms }),
      presence: presenceOf,
      kill: killLeftovers,
    },
    workers,
    bounds.maxStarts,
  );
}

interface StartParts {
  readonly options: BubblewrapProviderOptions;
  readonly bounds: GuestBounds;
  readonly programs: GuestPrograms;
  readonly folder: WorkerFolder;
  readonly profile: ProfileTerms;
  readonly terms: CreateOptions;
}

async function start({
  options,
  bounds,
  programs,
  folder,
  profile: wanted,
  terms,
}: StartParts): Promise<DisposableEnvironment> {
  const { deadlineMs, signal } = terms;
  const mounts = await measureMounts(wanted, signal);
  const { restriction } = mounts;
  const profile = restriction === undefined ? wanted : withoutNetwork(wanted);
  const program = await programs.prepare(profile.template, signal);
  const places = await makePlaces(folder, profile, program.interpreter);
  const listener = await listenForDials({ path: folder.dialSocket, bounds });
  let proxy: EgressProxy | undefined;
  const release = async (): Promise<void> => {
    await listener.close();
    await proxy?.close();
  };
  try {
    proxy = await openEgress(options, folder, profile);
    const host = await startSandbox({ folder, program, places, profile, mounts, signal });
    const forward = proxy === undefined ? undefined : { port: egressPort, socket: egressSocketPath };
    const cleanup = async (): Promise<void> => {
      await release();
      await folder.remove();
    };
    return await openGuestEnvironment({
      host,
      listener,
      places,
      profile,
      bounds,
      deadlineMs,
      forward,
      restriction,
      cleanup,
      signal,
    });
  } catch (error) {
    await release();
    throw error;
  }
}

/** Where nothing may be made, nobody inside can listen, and so nobody forward. */
function withoutNetwork(profile: ProfileTerms): ProfileTerms {
  return { ...profile, policy: { ...profile.policy, network: "none" } };
}

async function makePlaces(folder: WorkerFolder, profile: ProfileTerms, interpreter: string): Promise<GuestPlaces> {
  const packages = profile.policy.packages !== "disabled";
  if (packages) await mkdir(folder.wheels, { mode: 0o700 });
  return {
    workspace: inside.workspace,
    interpreter,
    dial: inside.dial,
    wheels: packages ? { outside: folder.wheels, inside: inside.wheels } : undefined,
  };
}

/** One proxy and one socket for each sandbox, so that what it decides is known to be this one's. */
async function openEgress(
  { onEgressDecision }: BubblewrapProviderOptions,
  { name, egressSocket }: WorkerFolder,
  { policy }: ProfileTerms,
): Promise<EgressProxy | undefined> {
  if (policy.network !== "allowlist") return undefined;
  return createEgressProxy({
    socket: egressSocket,
    allow: egressRules(policy.allowedHosts),
    onDecision: (decision) => onEgressDecision?.(name, decision),
  });
}
