import type { ChildProcess } from "node:child_process";
import { statSync } from "node:fs";
import type { Containment, StderrRecord } from "./child-handle.js";
import { whenClosed } from "./child-pipes.js";
import type { ChildTerms } from "./child-terms.js";
import type { SupervisorReady } from "./control-channel.js";
import { StdioTransportError } from "./errors.js";
import type { HostSystem } from "./host-system.js";
import { encodeLaunchRecord } from "./launch-record.js";
import { chooseLaunchers, type Launcher } from "./launchers.js";
import { findInNamespace, readNamespace } from "./process-identity.js";
import { shellEnvironment } from "./shell-environment.js";
import type { StartBound } from "./start-bound.js";
import { drainStderr } from "./stderr-drain.js";
import { type Supervision, supervise } from "./supervision.js";
import { within } from "./within.js";

/** A supervisor that holds the command, which waits for `go` before it is executed. */
export interface Launched {
  readonly supervision: Supervision;
  readonly launcher: Launcher;
  /** What was seen to hold, not what was asked for. */
  readonly containment: Containment;
  /** The numbers by which this machine sees them. */
  readonly numbers: { readonly launcher: number; readonly supervisor: number; readonly command: number };
  readonly stderr: StderrRecord;
  /** Launchers that were tried before and why they did not do, one sentence each. */
  readonly missing: readonly string[];
}

/**
 * Starts the best supervisor that works here. Trying is the probe: before `go` nothing of the command runs, so a launcher
 * that fails costs a few milliseconds and leaves no trace.
 * @throws {StdioTransportError} `LAUNCHER_FAILED` with what each of them said.
 */
export async function launch(terms: ChildTerms, host: HostSystem, bound: StartBound): Promise<Launched> {
  checkFolder(terms.cwd);
  const { launchers, missing } = chooseLaunchers(host, terms.containment);
  const reasons = [...missing];
  for (const launcher of launchers) {
    const attempt = await tryLauncher(launcher, terms, host, bound);
    if (typeof attempt !== "string") return { ...attempt, missing: reasons };
    reasons.push(attempt);
  }
  throw new StdioTransportError("LAUNCHER_FAILED", `no supervisor could be started: ${reasons.join("; ")}`);
}

const lastWordsMs = 250;

/** The reason as text when this launcher does not work here. */
async function tryLauncher(
  launcher: Launcher,
  terms: ChildTerms,
  host: HostSystem,
  bound: StartBound,
): Promise<Omit<Launched, "missing"> | string> {
  const spawned = await spawnLauncher(launcher, terms, host, bound);
  const supervision = await supervise(spawned, launcher.supervisor);
  let isReady = false;
  const onLine = (line: string): void => {
    if (isReady) terms.onStderrLine?.(line);
  };
  const stderr = drainStderr(supervision.stderr, { ...terms, onLine: terms.onStderrLine && onLine });
  try {
    if (launcher.supervisor === "perl")
      supervision.channel.write(encodeLaunchRecord(terms.file, terms.argv, terms.env));
    const ready = await bound.wait(supervision.channel.ready);
    if (ready === undefined) {
      const { code, signal } = await bound.wait(supervision.ended);
      // Its last words may still be in the pipe; a process that it left may hold the pipe open.
      await within([whenClosed([supervision.stderr])], lastWordsMs, terms.scheduler);
      const words = Buffer.from(stderr.tail()).toString("utf8").trim();
      return `${launcher.containment}: ${words || `the launcher ended with ${signal ?? code}`}`;
    }
    const isolated = isIsolated(ready);
    if (launcher.containment === "namespace" && !(isolated && ready.supervisor === 1)) {
      await bound.wait(dismiss(supervision));
      return "namespace: the launcher did not make a pid namespace of its own";
    }
    isReady = true;
    const containment = isolated ? "namespace" : "group";
    return { supervision, launcher, containment, numbers: hostNumbers(supervision.pid, ready, isolated), stderr };
  } catch (error) {
    void dismiss(supervision);
    throw error;
  }
}

/** Before `go`: nothing runs but the launcher and the supervisor, which ends with the channel. */
function dismiss(supervision: Supervision): Promise<unknown> {
  supervision.channel.destroy();
  supervision.killLauncher();
  return supervision.ended;
}

async function spawnLauncher(
  launcher: Launcher,
  terms: ChildTerms,
  host: HostSystem,
  bound: StartBound,
): Promise<ChildProcess> {
  const env = launcher.supervisor === "sh" ? shellEnvironment(terms) : launcherEnvironment;
  const args = launcher.supervisor === "sh" ? [...launcher.args, terms.file, ...terms.argv.slice(1)] : launcher.args;
  const spawn = terms.spawn ?? host.spawn;
  const options = { env, cwd: terms.cwd, stdio: ["pipe", "pipe", "pipe", "pipe"], detached: true } as const;
  const spawning = (async () => spawn(launcher.file, args, { ...options, stdio: [...options.stdio] }))();
  try {
    return await bound.wait(spawning);
  } catch (error) {
    void dismissLate(spawning, launcher);
    throw error;
  }
}

/** A spawn function that comes too late: nobody would hold what it started. A launcher may have forked already. */
async function dismissLate(spawning: Promise<ChildProcess>, { supervisor }: Launcher): Promise<void> {
  try {
    await dismiss(await supervise(await spawning, supervisor));
  } catch {
    // It failed anyway.
  }
}

/** Nothing of ours or of the command's: what an interpreter reads from its environment must not change the supervisor. */
const launcherEnvironment: Readonly<Record<string, string>> = { LC_ALL: "C", PATH: "/usr/bin:/bin" };

function isIsolated(ready: SupervisorReady): boolean {
  const ours = readNamespace("self");
  return ours !== undefined && ready.namespace.startsWith("pid:") && ready.namespace !== ours;
}

function hostNumbers(launcher: number, ready: SupervisorReady, isolated: boolean): Launched["numbers"] {
  // Not found where a spawn function starts it somewhere else, by a daemon: then what it returned has to stand for it.
  const find = (inner: number): number =>
    isolated ? (findInNamespace(launcher, ready.namespace, inner) ?? launcher) : inner;
  return { launcher, supervisor: find(ready.supervisor), command: find(ready.command) };
}

/** Node reports a missing working folder as if the program were missing. */
function checkFolder(cwd: string | undefined): void {
  const reason = cwd === undefined ? undefined : folderFault(cwd);
  if (reason === undefined) return;
  throw new StdioTransportError("CHILD_NOT_STARTED", `cannot start in the folder ${cwd}: ${reason}`, { reason });
}

function folderFault(path: string): string | undefined {
  try {
    return statSync(path).isDirectory() ? undefined : "ENOTDIR";
  } catch (error) {
    return error instanceof Error && "code" in error ? String(error.code) : String(error);
  }
}
