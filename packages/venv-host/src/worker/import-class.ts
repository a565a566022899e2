import { tryJson } from "../environments/try-json.js";
import { VenvHostError } from "../errors.js";
import { createStderrTail, type StderrTail } from "./stderr-tail.js";
import { createGate, within } from "./waits.js";
import type { WorkerOptions } from "./worker.js";
import { type ProcessReceiver, startProcess } from "./worker-process.js";
import { readWorkerOptions, type WorkerTerms } from "./worker-terms.js";

/** Which class of which folder. */
export interface WantedClass {
  /** `<cwd>/plugins`, without links. */
  readonly pluginsFolder: string;
  readonly className: string;
}

/*
 * The worker's own file is run first, short of its loop, for the way in which it imports: it refuses some modules. What the
 * plugin prints goes to stderr, so that stdout has the one line. Its threads, and what it asked for at the end of the
 * process, are not waited for.
 */
const program = `import sys
script, plugins, name = sys.argv[1:4]
sys.argv = [script]
if sys.path[0] == "": sys.path[0] = script.rpartition("/")[0]
import json, os
told = os.dup(1)
os.dup2(2, 1)
try:
    import importlib, runpy
    worker = runpy.run_path(script, run_name="worker")
    if plugins not in sys.path: sys.path.append(plugins)
    module, _, last = name.rpartition(".")
    getattr(worker.get("import_module", importlib.import_module)(module), last)
    answer = {"fault": None}
except BaseException as fault:
    answer = {"fault": str(fault)[:2000], "type": type(fault).__name__[:200]}
sys.stderr.flush()
os.write(told, (json.dumps(answer) + "\\n").encode())
os._exit(0)
`;

/** The line has 2_200 characters at most, each up to 12 bytes long as JSON. */
const maxLineBytes = 65_536;

/**
 * Imports a class in a process of its own, as a worker with these options would for its first call: that runs the module's
 * code, and makes no instance. Rejects with `WORKER_START_FAILED`; `WORKER_ERROR` (what Python says), `WORKER_DIED`,
 * `WORKER_TIMEOUT` (`startTimeoutMs` and `callTimeoutMs` together), or the signal's reason. Nothing of it is left then.
 */
export async function importClass(options: WorkerOptions, wanted: WantedClass, signal?: AbortSignal): Promise<void> {
  signal?.throwIfAborted();
  const terms = readWorkerOptions(options);
  const { python, script, limits } = terms;
  const tail = createStderrTail((text) => text);
  const said = createGate<string>();
  const argv = [python, "-c", program, script, wanted.pluginsFolder, wanted.className];
  const bounded = { ...terms, limits: { ...limits, maxContentBytes: maxLineBytes } };
  const child = await startProcess(
    bounded,
    receiverOf(terms, said.open, tail),
    signal ?? new AbortController().signal,
    argv,
  );
  const kill = (): void => void child.kill().catch(() => undefined); // told below
  signal?.addEventListener("abort", kill, { once: true });
  try {
    if (signal?.aborted === true) kill();
    const timeoutMs = limits.startTimeoutMs + limits.callTimeoutMs;
    if (!(await within(child.gone, timeoutMs, terms.scheduler))) throw late(timeoutMs, tail);
    signal?.throwIfAborted();
    const { code, signal: by } = await child.gone;
    said.open("");
    readAnswer(await said.passed, by === null ? `with code ${code}` : `by ${by}`, tail);
  } finally {
    signal?.removeEventListener("abort", kill);
    await child.kill();
  }
}

function receiverOf(terms: WorkerTerms, onLine: (line: string) => void, tail: StderrTail): ProcessReceiver {
  return {
    onLine: (bytes) => onLine(bytes.toString("utf8")),
    onCut: () => onLine(""),
    onFirstByte: () => undefined,
    onStderrLine: (line) => {
      tail.push(line);
      terms.onLog(line);
    },
  };
}

/** Nothing that can be read: it ended before it could say what came of it. */
function readAnswer(line: string, how: string, tail: StderrTail): void {
  const answer = tryJson(line);
  if (typeof answer !== "object" || answer === null || !("fault" in answer)) {
    throw new VenvHostError("WORKER_DIED", `the process that imported it ended ${how}`, excerptOf(tail));
  }
  if (answer.fault === null) return;
  const type = "type" in answer ? String(answer.type) : "";
  const text = String(answer.fault);
  throw new VenvHostError("WORKER_ERROR", text === "" ? type : text, excerptOf(tail));
}

function late(timeoutMs: number, tail: StderrTail): VenvHostError {
  return new VenvHostError("WORKER_TIMEOUT", `it did not end within ${timeoutMs} ms`, {
    timeoutMs,
    ...excerptOf(tail),
  });
}

function excerptOf(tail: StderrTail): {
  readonly step: string;
  readonly stderrExcerpt: string;
  readonly isStderrTruncated: boolean;
} {
  const { text, isTruncated } = tail.excerpt();
  return { step: "import", stderrExcerpt: text, isStderrTruncated: isTruncated };
}
