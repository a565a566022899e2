import { isStdioTransportError, openChild } from "@berth/stdio-transport";
import type { Confine, ConfinePolicy } from "../../confine.js";
import { VenvHostError } from "../../errors.js";
import { scrubbed } from "../credentials-in-urls.js";

/** A program of a build. */
export interface BuildStep {
  /** `create`, `install` or `compile`. */
  readonly step: string;
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly policy: ConfinePolicy;
  readonly maxOutputBytes: number;
  /** Never in an error: see credentials-in-urls.ts. */
  readonly secrets: readonly string[];
  /** Hears all that is left of what it said, once it has ended by itself. */
  readonly onOutput?: ((output: string) => void) | undefined;
  /** Hears each line as it is said, long ones cut, but may miss what is said in the first moment. */
  readonly onLine?: ((line: string) => void) | undefined;
}

// The installer's output goes where the tail of stderr is kept. Its stdout stays open as descriptor 9, since the end of
// it would be taken for the end of the command.
const toStderr = 'exec "$@" 9>&1 1>&2';
const excerptBytes = 4_096;

/**
 * Runs it to its end, with all processes that it started; gives what held it. Rejects with `VENV_BUILD_FAILED`, or with
 * the signal's reason once every process is gone.
 */
export async function runStep(step: BuildStep, confine: Confine | undefined, signal: AbortSignal): Promise<string> {
  signal.throwIfAborted();
  const confined = await confinedForm(step, confine);
  try {
    const child = await openChild({
      file: "/bin/sh",
      args: ["-c", toStderr, "sh", ...confined.argv],
      env: step.env,
      cwd: step.policy.cwd,
      stderrTailBytes: step.maxOutputBytes,
      onStderrLine: step.onLine,
      graceMs: { inputMs: 0, terminateMs: 500 },
      signal,
    }).catch((error: unknown) => {
      throw isStdioTransportError(error) ? notStarted(step, error) : error;
    });
    const stop = (): void => void child.kill().catch(() => {}); // told by close below
    signal.addEventListener("abort", stop, { once: true });
    try {
      const { code } = await child.exited;
      await child.pipesClosed;
      signal.throwIfAborted();
      // Hidden before it is cut: half of a secret would not be found.
      const output = scrubbed(new TextDecoder().decode(child.stderr.tail()), step.secrets);
      step.onOutput?.(output);
      if (code !== 0) throw failed(step, code, { output, byteCount: child.stderr.byteCount });
    } finally {
      signal.removeEventListener("abort", stop);
      await child.close();
    }
    return confined.confinement;
  } finally {
    await confined.release();
  }
}

async function confinedForm({ argv, policy, step }: BuildStep, confine: Confine | undefined): ReturnType<Confine> {
  if (confine === undefined) return { argv, confinement: "none", release: () => Promise.resolve() };
  return confine(argv, policy).catch((error: unknown) => {
    const message = "what builds the environment cannot be confined on this machine, and is not run without";
    throw new VenvHostError("VENV_BUILD_FAILED", message, { step, cause: error });
  });
}

function notStarted({ step }: BuildStep, cause: Error): VenvHostError {
  return new VenvHostError("VENV_BUILD_FAILED", `${step}: ${cause.message}`, { step, cause });
}

function failed(
  { step, argv }: BuildStep,
  exitCode: number | null,
  { output, byteCount }: { readonly output: string; readonly byteCount: number },
): VenvHostError {
  const bytes = Buffer.from(output, "utf8");
  let start = Math.max(0, bytes.length - excerptBytes);
  // Not in the middle of a character: these bytes continue one.
  while (start < bytes.length && ((bytes[start] ?? 0) & 0xc0) === 0x80) start += 1;
  const program = argv[0]?.split("/").at(-1) ?? "";
  const how = exitCode === null ? "was ended by a signal" : `ended with exit code ${exitCode}`;
  const stderrExcerpt = bytes.subarray(start).toString("utf8");
  const lastLine = stderrExcerpt.trimEnd().split("\n").at(-1)?.trim().slice(0, 300) ?? "";
  return new VenvHostError("VENV_BUILD_FAILED", `${step}: ${program} ${how}${lastLine === "" ? "" : `: ${lastLine}`}`, {
    exitCode,
    step,
    stderrExcerpt,
    isStderrTruncated: start > 0 || byteCount > bytes.length,
  });
}
