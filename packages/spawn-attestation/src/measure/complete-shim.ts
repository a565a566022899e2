import { AttestationError } from "../errors.js";
import type { Interpreter, Measurement } from "../measurement.js";
import { filesBeside } from "../resolve/interpreter-files.js";
import { readProgram } from "../resolve/program-file.js";
import { refuseOldPython } from "../resolve/python.js";
import type { Baseline } from "./baseline.js";
import { isUtf8, pathOfText, printable } from "./byte-path.js";
import { behindShim } from "./interpreter.js";
import { createFileDigests } from "./program-digests.js";
import type { MeasureContext } from "./tools.js";
import { tracePath } from "./trace.js";

/** A measurement with what a shim answered. */
export interface CompletedShim {
  readonly measurement: Measurement;
  readonly baseline: Baseline;
}

/**
 * Measures the interpreter that a shim said it runs.
 * @throws {AttestationError} `SHIM_UNRESOLVED`, `PYTHON_CACHE_REDIRECTED`
 */
export function completeShim(
  measurement: Measurement,
  baseline: Baseline,
  answer: string,
  context: MeasureContext,
): CompletedShim {
  const shim = measurement.interpreter;
  if (shim === undefined) throw new Error("only a launch with an interpreter has a shim");
  const path = pathOfText(answer);
  if (!answer.startsWith("/") || answer.includes("\0") || !isUtf8(path)) throw unresolved(shim, answer);
  const trace = tracePath(path, { missing: "SHIM_UNRESOLVED", advice: "write the real interpreter in command" });
  if (trace.end.kind !== "file" || readProgram({ path: answer, trace }).kind !== "native")
    throw unresolved(shim, answer);
  if (shim.family === "python") refuseOldPython(trace.realPath);
  const beside = filesBeside(path, trace.realPath);
  const digests = createFileDigests(context);
  const interpreter = behindShim(shim, answer, trace, digests, beside);
  const part = "interpreter behind the shim";
  const extra = [{ part, path, trace }, ...beside];
  return {
    measurement: { ...measurement, interpreter },
    baseline: {
      ...baseline,
      extra: [...baseline.extra, ...extra],
      digests: { ...baseline.digests, ...Object.fromEntries(digests.all) },
    },
  };
}

/** The refusal when a shim cannot be asked, or its answer is no interpreter. */
export function unresolved(shim: Interpreter, answer: string): AttestationError {
  const said = answer === "" ? "it gave no answer" : `it answered ${JSON.stringify(printable(answer))}`;
  return new AttestationError(
    "SHIM_UNRESOLVED",
    `${printable(shim.path)} stands for another ${shim.family}, and which one is not known: ${said}`,
    { advice: "write the real interpreter in command" },
  );
}
