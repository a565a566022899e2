import type { RuntimeCapabilities } from "../capabilities.js";
import type { DisposableEnvironment } from "../environment.js";
import { isLeaseError, LeaseError } from "../errors.js";
import type { ProfileTerms } from "../profile.js";
import type { CreateOptions, ManagedProvider } from "../provider.js";
import { requireCapabilities } from "../require-capabilities.js";
import { createTurns } from "./turns.js";
import type { WorkerFolder, WorkersFolder } from "./worker-folder.js";

/** What one kind of provider does with its workers; everything else is the same for all. */
export interface WorkerKind {
  readonly name: string;
  readonly capabilities: RuntimeCapabilities;
  /** Starts one in its fresh folder. What it leaves when it rejects is ended and removed by the caller. */
  start(folder: WorkerFolder, profile: ProfileTerms, options: CreateOptions): Promise<DisposableEnvironment>;
  /** Whether anything of it runs; also of one that another process started. */
  presence(folder: WorkerFolder): Promise<"yes" | "no" | "unknown">;
  /** Kills what runs of it; also of one that another process started. */
  kill(folder: WorkerFolder): Promise<void>;
}

/** A provider whose workers each have a folder: made before anything of a worker exists, removed after all of it has gone. */
export function manageWorkers(kind: WorkerKind, workers: WorkersFolder, maxStarts: number): ManagedProvider {
  // Starts take processor time alone: more of them at once end no sooner, and each gets too late for its own bound.
  const turns = createTurns(maxStarts);
  const living = new Map<string, Living>();
  const ending = new AbortController();
  let closing: Promise<void> | undefined;

  const start = async (name: string, profile: ProfileTerms, options: CreateOptions): Promise<DisposableEnvironment> => {
    const folder = await workers.add(name);
    try {
      return await kind.start(folder, profile, options);
    } catch (error) {
      await discard(kind, folder).catch((cleanup: unknown) => {
        throw notCreated(new AggregateError([error, cleanup], `${textOf(error)}; and then: ${textOf(cleanup)}`));
      });
      options.signal?.throwIfAborted();
      throw isLeaseError(error) ? error : notCreated(error);
    }
  };
  const destroy = async (name: string): Promise<void> => {
    const folder = workers.at(name);
    // Its failure is told to whoever asked for it.
    const environment = await living.get(name)?.started.catch(() => undefined);
    await environment?.close();
    await discard(kind, folder);
  };
  return {
    name: kind.name,
    capabilities: kind.capabilities,
    async create(name, profile, options) {
      if (closing !== undefined) throw notCreated(closedError);
      requireCapabilities(kind.capabilities, profile, { allowUnconfined: true });
      checkDeadline(options.deadlineMs);
      options.signal?.throwIfAborted();
      if (living.has(name)) throw notCreated(new Error(`a worker ${name} exists`));
      const signal = options.signal === undefined ? ending.signal : AbortSignal.any([options.signal, ending.signal]);
      const started = turns.take(() => start(name, profile, { ...options, signal }), signal);
      const entry: Living = { started, gone: false };
      living.set(name, entry);
      follow(entry, () => living.delete(name));
      return entry.started;
    },
    listWorkers: () => workers.list(),
    async exists(name) {
      const folder = workers.at(name);
      if (living.get(name)?.gone === false) return "yes";
      return (await folder.exists()) ? kind.presence(folder) : "no";
    },
    destroy,
    close() {
      ending.abort(notCreated(closedError));
      closing ??= closeAll([...living.keys()], destroy);
      return closing;
    },
  };
}

async function discard(kind: WorkerKind, folder: WorkerFolder): Promise<void> {
  if (!(await folder.exists())) return;
  await kind.kill(folder);
  const presence = await kind.presence(folder);
  if (presence !== "no") throw left(folder.name, presence);
  await folder.remove();
}

interface Living {
  readonly started: Promise<DisposableEnvironment>;
  /** Everything inside has ended; its folder may still be there. */
  gone: boolean;
}

function follow(entry: Living, forget: () => void): void {
  entry.started.then((environment) => {
    void environment.ended.then(async () => {
      entry.gone = true;
      // A failure is told to whoever closes or destroys it; until then it is listed.
      await environment.close().catch(() => {});
      forget();
    });
  }, forget);
}

async function closeAll(names: readonly string[], destroy: (name: string) => Promise<void>): Promise<void> {
  const outcomes = await Promise.allSettled(names.map(destroy));
  const failures = outcomes.flatMap((outcome) => (outcome.status === "rejected" ? [outcome.reason] : []));
  if (failures.length > 0) throw new AggregateError(failures, `${failures.length} workers are left`);
}

function checkDeadline(deadlineMs: number): void {
  if (Number.isFinite(deadlineMs) && deadlineMs >= 1) return;
  throw new LeaseError("OPTION_INVALID", `deadlineMs must be at least 1, was ${deadlineMs}`);
}

const closedError = new Error("the provider is closed");

function textOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

function notCreated(cause: unknown): LeaseError {
  const why = textOf(cause);
  const cure = cause instanceof Error && "cure" in cause && typeof cause.cure === "string" ? cause.cure : undefined;
  return new LeaseError("ENVIRONMENT_NOT_CREATED", why, { cause, cure });
}

function left(name: string, presence: string): LeaseError {
  const what = presence === "yes" ? "still runs" : "may still run";
  return new LeaseError("CLEANUP_UNCONFIRMED", `something of the worker ${name} ${what}`);
}
