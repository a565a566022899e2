import type { ExitStatus } from "@berth/stdio-transport";
import { isVenvHostError, VenvHostError, type VenvHostErrorDetails } from "../errors.js";
import { type Call, createCall } from "./call.js";
import { createRuns, type Runs } from "./runs.js";
import type { Secrets } from "./secrets.js";
import { createStderrTail, type StderrTail } from "./stderr-tail.js";
import type { WorkerAnswer, WorkerFeatures } from "./worker.js";
import { type ProcessReceiver, startProcess, type WorkerProcess } from "./worker-process.js";
import type { WorkerTerms } from "./worker-terms.js";

/** One process that said of itself what it can, and was accepted. */
export interface Session {
  readonly pid: number;
  readonly features: WorkerFeatures;
  readonly isAlive: boolean;
  /** Why it is not alive. */
  readonly fault: VenvHostError | undefined;
  /** Sends one; resolves when the next may be sent. */
  run(call: Call): Promise<void>;
  /** Fails what is under way, sends the shutdown task, and SIGKILL after the grace. */
  shutdown(reason: VenvHostError): Promise<void>;
}

/** What a session is made of. */
export interface SessionOptions {
  readonly terms: WorkerTerms;
  readonly secrets: Secrets;
  /** A call, not a probe, was answered. */
  readonly onAnswered: () => void;
}

const SHUTDOWN_LINE = Buffer.from(JSON.stringify({ task_type: "shutdown", request_id: "shutdown" }), "utf8");

/** What a worker that does not know the question can do beyond the oldest protocol. */
const NO_FEATURES: WorkerFeatures = { protocolVersion: undefined, features: [], cpexVersion: undefined };
const MAX_FEATURES = 64;
const MAX_NAME_CHARS = 200;
const MAX_SHOWN_CHARS = 300;

/** @throws {VenvHostError} `WORKER_START_FAILED`; what `accept` throws; the signal's reason. Nothing is left then. */
export async function startSession(options: SessionOptions, signal: AbortSignal): Promise<Session> {
  const { terms, secrets } = options;
  const tail = createStderrTail(secrets.hide);
  const started: { process?: WorkerProcess } = {};
  const kill = (): void => void started.process?.kill().catch(() => undefined); // whoever closes it is told what is left
  const runs = createRuns({ ...options, hide: secrets.hide, onStuck: kill });
  const process = await startProcess(terms, createReceiver(terms, runs, tail, secrets), signal);
  started.process = process;
  const watch = watchEnd(process, runs, tail);
  signal.addEventListener("abort", kill, { once: true });
  try {
    const features = await askFeatures(process, runs, terms);
    if (watch.fault !== undefined) throw notStarted(watch.fault);
    terms.accept(features);
    return holdSession(process, features, runs, watch, terms);
  } catch (error) {
    await process.kill();
    signal.throwIfAborted();
    throw error;
  } finally {
    signal.removeEventListener("abort", kill);
  }
}

function createReceiver(terms: WorkerTerms, runs: Runs, tail: StderrTail, secrets: Secrets): ProcessReceiver {
  return {
    onLine: runs.onLine,
    onCut: runs.onCut,
    onFirstByte: runs.onFirstByte,
    onStderrLine: (line) => {
      runs.onFirstByte();
      tail.push(line);
      terms.onLog(secrets.hide(line));
    },
  };
}

/** Why the process is not alive, once it is not. */
interface EndWatch {
  fault: VenvHostError | undefined;
}

function watchEnd(process: WorkerProcess, runs: Runs, tail: StderrTail): EndWatch {
  const watch: EndWatch = { fault: undefined };
  void process.gone.then((status) => {
    watch.fault ??= died(status, tail);
    runs.end(watch.fault);
  });
  return watch;
}

function holdSession(
  process: WorkerProcess,
  features: WorkerFeatures,
  runs: Runs,
  watch: EndWatch,
  { limits }: WorkerTerms,
): Session {
  return {
    pid: process.pid,
    features,
    get isAlive() {
      return watch.fault === undefined;
    },
    get fault() {
      return watch.fault;
    },
    run: (call) => {
      const free = runs.add(call, limits.callTimeoutMs, "call");
      process.send(call.line);
      return free;
    },
    shutdown: async (reason) => {
      watch.fault ??= reason;
      runs.end(reason);
      await process.shutdown(SHUTDOWN_LINE, limits.graceMs);
    },
  };
}

/** An error, and no answer in time, are answers too: those of a worker that does not know the question. */
async function askFeatures(process: WorkerProcess, runs: Runs, { limits }: WorkerTerms): Promise<WorkerFeatures> {
  const call = createCall({ task_type: "capabilities" }, limits.maxContentBytes);
  const answer = call.answer.then(readFeatures, (error: unknown) => {
    if (isVenvHostError(error)) return NO_FEATURES;
    throw error;
  });
  const free = runs.add(call, limits.probeTimeoutMs, "probe");
  process.send(call.line);
  await free;
  return answer;
}

function readFeatures(answer: WorkerAnswer): WorkerFeatures {
  const { protocol_version: version, features, cpex_version: cpexVersion } = answer;
  const names: readonly unknown[] = Array.isArray(features) ? features.slice(0, MAX_FEATURES) : [];
  return {
    protocolVersion: typeof version === "number" && Number.isSafeInteger(version) ? version : undefined,
    features: names.filter((name) => typeof name === "string").map((name) => name.slice(0, MAX_NAME_CHARS)),
    cpexVersion: typeof cpexVersion === "string" ? cpexVersion.slice(0, MAX_NAME_CHARS) : undefined,
  };
}

function died({ code, signal }: ExitStatus, tail: StderrTail): VenvHostError {
  const { text, isTruncated } = tail.excerpt();
  const how = signal === null ? `with code ${code}` : `by ${signal}`;
  const words = text === "" ? "; it wrote nothing to stderr" : `; its stderr ends with: ${lastLine(text)}`;
  return new VenvHostError("WORKER_DIED", `the worker ended ${how}${words}`, {
    exitCode: code,
    stderrExcerpt: text,
    isStderrTruncated: isTruncated,
  });
}

/** A traceback says at its end what went wrong. */
function lastLine(text: string): string {
  const line = text.trimEnd().split("\n").at(-1) ?? "";
  return line.slice(0, MAX_SHOWN_CHARS);
}

function notStarted(fault: VenvHostError): VenvHostError {
  const details: VenvHostErrorDetails = { ...fault.details, step: "start", cause: fault };
  return new VenvHostError("WORKER_START_FAILED", `before it answered anything, ${fault.message}`, details);
}
