import { randomBytes } from "node:crypto";
import { constants } from "node:os";
import type { CommandResult, DisposableEnvironment } from "./environment.js";
import { type FieldFault, isLeaseError, LeaseError } from "./errors.js";
import { createCatalog, type Leasable } from "./leases/catalog.js";
import { deadlineMarginMs } from "./leases/maker.js";
import type { EnvironmentProfile } from "./profile.js";
import type { ManagedProvider } from "./provider.js";
import { readMembers } from "./reading/members.js";
import { readPayload } from "./reading/read-payload.js";
import { refuseFaults } from "./reading/refuse.js";

/** What a pipeline runs in. Both are copied: what is added later is not seen. */
export interface EnvironmentPipelineOptions {
  readonly profiles: Readonly<Record<string, EnvironmentProfile>>;
  /** Only `create` of them is used, and `close` of what it gives. */
  readonly providers: readonly PipelineProvider[];
  /** Lets providers that isolate nothing be used. Default false. */
  readonly allowUnconfined?: boolean | undefined;
  /** Default `crypto.randomBytes`. */
  readonly randomBytes?: ((size: number) => Uint8Array) | undefined;
}

/** What a pipeline needs of a provider. */
export type PipelineProvider = Pick<ManagedProvider, "name" | "capabilities" | "create">;

/** One piece of work. The members of an executor's request that matter here, so that it fits `pipelineTool` of mcp-server. */
export interface PipelineWork {
  /** Exactly `{ profile, argv }`: any other member is refused, so that no client can change a policy. */
  readonly payload: unknown;
  /** Kills the command and destroys its worker; rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
}

/** What came of it, as it is sent to a client. */
export interface PipelineResult {
  /** 128 and the signal's number for a command that a signal ended, as shells tell it. */
  readonly exit_code: number;
  /** As UTF-8; what is none is replaced. */
  readonly stdout: string;
  readonly stderr: string;
  readonly provider: string;
  readonly platform: string;
}

/** Runs a program in an environment of its own that is gone before the result is given. */
export interface EnvironmentPipeline {
  /**
   * @throws {LeaseError} `PAYLOAD_INVALID`, `PROVIDER_UNKNOWN`, `CAPABILITY_MISSING` before anything is started; then what
   * the provider throws.
   * @throws {AggregateError} of the primary error and that of the cleanup, when both failed.
   */
  execute(work: PipelineWork): Promise<PipelineResult>;
}

/** How long a worker may take to come up: its own deadline counts from its creation. */
const creationMs = 60_000;

const optionNames = [
  "profiles",
  "providers",
  "allowUnconfined",
  "randomBytes",
] as const satisfies readonly (keyof EnvironmentPipelineOptions)[];

/** @throws {LeaseError} `OPTION_INVALID`, naming every member at fault. */
function checkOptions(options: EnvironmentPipelineOptions): void {
  const faults: FieldFault[] = [];
  readMembers(options, "", optionNames, faults)?.flag("allowUnconfined");
  refuseFaults("OPTION_INVALID", "the options of the pipeline cannot be used", faults);
}

/**
 * No queue, no bound on how many run, no lease: those are the caller's.
 * @throws {LeaseError} `PROFILE_INVALID`, `OPTION_INVALID`
 */
export function createEnvironmentPipeline(options: EnvironmentPipelineOptions): EnvironmentPipeline {
  checkOptions(options);
  const profiles = { ...options.profiles };
  const catalog = createCatalog({ ...options, profiles });
  const random = options.randomBytes ?? randomBytes;
  return {
    async execute({ payload, signal }) {
      const { profile, argv } = readPayload(payload, (name) => Object.hasOwn(profiles, name));
      const leasable = catalog.find(profile);
      signal?.throwIfAborted();
      const name = `mcp-${Buffer.from(random(12)).toString("hex")}`;
      const deadlineMs = creationMs + leasable.profile.policy.commandTimeoutMs + deadlineMarginMs;
      const environment = await leasable.provider.create(name, leasable.profile, { deadlineMs, signal });
      const result = await runAndClose(environment, leasable, { argv, signal });
      return encode(result, leasable);
    },
  };
}

interface Command {
  readonly argv: readonly string[];
  readonly signal: AbortSignal | undefined;
}

/** The environment is closed whatever happened; a result whose environment could not be closed is lost. */
async function runAndClose(
  environment: DisposableEnvironment,
  { profile }: Pick<Leasable, "profile">,
  { argv, signal }: Command,
): Promise<CommandResult> {
  let result: CommandResult;
  try {
    if (profile.shell) await environment.installShell({ signal });
    result = await environment.run(argv, { timeoutMs: profile.policy.commandTimeoutMs, signal });
  } catch (primary) {
    await closeAfter(environment, primary);
    throw primary;
  }
  await environment.close();
  return result;
}

async function closeAfter(environment: DisposableEnvironment, primary: unknown): Promise<void> {
  try {
    await environment.close();
  } catch (cleanup) {
    const code = isLeaseError(primary) ? ` (${primary.code})` : "";
    throw new AggregateError([primary, cleanup], `the command failed${code}, and its environment could not be closed`);
  }
}

function encode(result: CommandResult, { profile }: Pick<Leasable, "profile">): PipelineResult {
  return {
    exit_code: result.exitCode ?? 128 + signalNumber(result.signal),
    stdout: Buffer.from(result.stdout).toString(),
    stderr: Buffer.from(result.stderr).toString(),
    provider: profile.provider,
    platform: profile.platform,
  };
}

function signalNumber(name: string | undefined): number {
  const known = Object.entries(constants.signals).find(([signal]) => signal === name);
  if (known === undefined) throw new LeaseError("ENVIRONMENT_ENDED", "the command ended, and it is not known how");
  return known[1];
}
