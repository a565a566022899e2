import { getSystemErrorName } from "node:util";
import type { ChildHandle } from "./child-handle.js";
import type { ChildOptions } from "./child-options.js";
import { type ChildRecord, describeChild } from "./child-record.js";
import { type ChildTerms, readChildOptions } from "./child-terms.js";
import { endEverything, type Held, hold } from "./end-everything.js";
import { StdioTransportError } from "./errors.js";
import { holdChild } from "./hold-child.js";
import { type HostSystem, thisHost } from "./host-system.js";
import { type Launched, launch } from "./launch.js";
import { refuseHere } from "./refuse-here.js";
import { removeRecord, writeRecord } from "./registry.js";
import { boundStart, type StartBound } from "./start-bound.js";
import type { Supervision } from "./supervision.js";

/**
 * Starts a command and holds it. Resolves when it was executed. Its exit, or the end of its stdout, ends the rest of its
 * processes too.
 * @throws {StdioTransportError} `CHILD_NOT_STARTED` (with the operating system's `reason`), `START_TIMEOUT`,
 * `LAUNCHER_FAILED`, `SPAWN_FROM_WORKER`, `PLATFORM_UNSUPPORTED`, `REGISTRY_UNWRITABLE`, `OPTION_INVALID`. Also the
 * signal's reason, and what the spawn function threw.
 */
export function openChild(options: ChildOptions): Promise<ChildHandle> {
  return openChildOn(thisHost(), options);
}

/** As `openChild`, on a machine that is passed in. */
export async function openChildOn(host: HostSystem, options: ChildOptions): Promise<ChildHandle> {
  options.signal?.throwIfAborted();
  refuseHere(host, options.file);
  const terms = readChildOptions(options, host.scheduler);
  const bound = boundStart(terms.startTimeoutMs, terms.signal, terms.scheduler);
  try {
    return await letGo(await launch(terms, host, bound), terms, host, bound);
  } finally {
    bound.release();
  }
}

/** Records the child while it waits, lets it go, and waits until it was executed. */
async function letGo(launched: Launched, terms: ChildTerms, host: HostSystem, bound: StartBound): Promise<ChildHandle> {
  const { supervision } = launched;
  const record = describeChild(terms.file, host, launched.numbers);
  const held = hold(supervision, record, terms.killMs, terms.scheduler);
  let recordPath: string | undefined;
  try {
    if (terms.registry !== undefined) recordPath = await writeRecord(terms.registry, recordable(record));
    bound.throwIfOver();
    supervision.channel.tell("go");
    await bound.wait(whenExecuted(supervision, terms));
  } catch (error) {
    await abandon(held, recordPath);
    throw error;
  }
  return holdChild(launched, held, terms, recordPath);
}

async function whenExecuted({ channel, exited }: Supervision, terms: ChildTerms): Promise<void> {
  const outcome = await channel.executed;
  if (outcome?.executed) return;
  if (outcome === undefined) {
    const { code, signal } = await exited;
    throw new StdioTransportError("CHILD_NOT_STARTED", `${terms.file} was ended before it ran (${signal ?? code})`);
  }
  const reason = getSystemErrorName(-outcome.errno);
  throw new StdioTransportError("CHILD_NOT_STARTED", `cannot execute ${terms.file}: ${reason}`, { reason });
}

/** After a failed start. That some process survived is not told: the reason of the failure is; its record stays. */
async function abandon(held: Held, recordPath: string | undefined): Promise<void> {
  const isGone = await endEverything(held).then(
    () => true,
    () => false,
  );
  if (isGone && recordPath !== undefined) await removeRecord(recordPath);
}

function recordable(record: ChildRecord | undefined): ChildRecord {
  if (record !== undefined) return record;
  throw new StdioTransportError("PLATFORM_UNSUPPORTED", "a registry of children needs /proc: leave the option out");
}
