import type { Launch } from "./description.js";
import { AttestationError, type AttestationErrorCode, isAttestationError } from "./errors.js";
import type { Baseline } from "./measure/baseline.js";
import { type CompletedShim, completeShim } from "./measure/complete-shim.js";
import { measureNow, type RawMeasurement } from "./measure/measure-resolution.js";
import { recheckNow } from "./measure/recheck-now.js";
import type { MeasureContext } from "./measure/tools.js";
import type { Measurement } from "./measurement.js";
import { findOrigin, type Origin } from "./origin.js";
import { type CopiedLaunch, launchFromCopy } from "./snapshot/launch-from-copy.js";
import { ensurePrivateFolder } from "./snapshot/private-folder.js";
import type { LaunchTerms } from "./terms.js";

/** What a thread can be asked to do: plain values in, plain values out. */
export interface Jobs {
  readonly measure: { readonly input: LaunchTerms; readonly output: RawMeasurement };
  readonly completeShim: { readonly input: ShimAnswered; readonly output: CompletedShim };
  readonly copy: { readonly input: CopyOrder; readonly output: CopiedLaunch };
  readonly recheck: { readonly input: Checked; readonly output: undefined };
  readonly origin: { readonly input: Measurement; readonly output: Origin | undefined };
  readonly privateFolder: { readonly input: string; readonly output: undefined };
}

export type JobKind = keyof Jobs;

/** A launch to compare with how it was. */
export interface Checked {
  readonly terms: LaunchTerms;
  readonly baseline: Baseline;
}

interface CopyOrder extends Checked {
  readonly digest: string;
  readonly snapshots: string;
}

interface ShimAnswered {
  readonly measurement: Measurement;
  readonly baseline: Baseline;
  readonly answer: string;
}

type Handlers = { readonly [K in JobKind]: (input: Jobs[K]["input"], context: MeasureContext) => Jobs[K]["output"] };

/** Each job, synchronously: in a thread of its own that is the quickest way to read many small files. */
export const handlers: Handlers = {
  measure: (terms, context) => measureNow(terms, context),
  completeShim: ({ measurement, baseline, answer }, context) => completeShim(measurement, baseline, answer, context),
  copy: ({ terms, digest, baseline, snapshots }, context) =>
    launchFromCopy(terms, { digest, baseline }, snapshots, context),
  recheck: ({ terms, baseline }, context) => {
    recheckNow(terms, baseline, context);
    return undefined;
  },
  origin: (measurement) => findOrigin(measurement),
  privateFolder: (folder) => {
    ensurePrivateFolder(folder);
    return undefined;
  },
};

/** An error in the form that threads exchange: the structured clone of an Error keeps only its message. */
export interface SentError {
  readonly code?: AttestationErrorCode | undefined;
  readonly message: string;
  readonly advice?: string | undefined;
  readonly osCode?: string | undefined;
  readonly launch?: Launch | undefined;
}

export function sendError(error: unknown): SentError {
  if (!isAttestationError(error))
    return { message: error instanceof Error ? (error.stack ?? error.message) : String(error) };
  const { code, message, advice, osCode, launch } = error;
  return { code, message, advice, osCode, launch };
}

export function receiveError({ code, message, advice, osCode, launch }: SentError): Error {
  if (code === undefined) return new Error(message);
  return new AttestationError(code, message, { advice: advice ?? "", osCode, launch });
}
