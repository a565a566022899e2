import { isAbsolute } from "node:path";
import { type Scheduler, systemScheduler } from "@berth/jsonrpc-framing";
import { VenvHostError } from "../errors.js";
import type { WorkerFeatures, WorkerLimits, WorkerOptions } from "./worker.js";

/** WorkerLimits with defaults filled in. */
export type WorkerBounds = { readonly [name in keyof Required<WorkerLimits>]: number };

/** WorkerOptions with defaults filled in; the only form that internal code sees. */
export interface WorkerTerms
  extends Pick<WorkerOptions, "python" | "script" | "cwd" | "env" | "confine" | "holdsSecrets"> {
  readonly limits: WorkerBounds;
  readonly onLog: (line: string) => void;
  readonly accept: (features: WorkerFeatures) => void;
  readonly scheduler: Scheduler;
}

const RANGES = {
  maxContentBytes: { least: 1_024, most: 67_108_864, otherwise: 10_000_000 },
  callTimeoutMs: { least: 1, most: 600_000, otherwise: 30_000 },
  probeTimeoutMs: { least: 1, most: 600_000, otherwise: 5_000 },
  startTimeoutMs: { least: 1, most: 600_000, otherwise: 30_000 },
  maxTimeouts: { least: 1, most: 1_000, otherwise: 1 },
  maxPendingCalls: { least: 1, most: 65_536, otherwise: 1_024 },
  graceMs: { least: 0, most: 600_000, otherwise: 5_000 },
} as const;

const OPTION_NAMES: readonly string[] = [
  "python",
  "script",
  "cwd",
  "env",
  "limits",
  "confine",
  "holdsSecrets",
  "onLog",
  "accept",
  "scheduler",
];

/** @throws {VenvHostError} `OPTION_INVALID`. */
export function readWorkerOptions(options: WorkerOptions): WorkerTerms {
  refuseUnknown(options, OPTION_NAMES);
  refuseUnknown(options.limits ?? {}, Object.keys(RANGES));
  for (const name of ["python", "script", "cwd"] as const) {
    if (!isAbsolute(options[name])) throw invalid(`${name} must be an absolute path, not ${options[name]}`);
  }
  return {
    python: options.python,
    script: options.script,
    cwd: options.cwd,
    env: options.env,
    confine: options.confine,
    holdsSecrets: options.holdsSecrets,
    limits: readLimits(options.limits ?? {}),
    onLog: options.onLog ?? (() => undefined),
    accept: options.accept ?? (() => undefined),
    scheduler: options.scheduler ?? systemScheduler,
  };
}

function readLimits(limits: WorkerLimits): WorkerBounds {
  const read = (name: keyof typeof RANGES): number => {
    const { least, most, otherwise } = RANGES[name];
    const value = limits[name] ?? otherwise;
    if (Number.isSafeInteger(value) && value >= least && value <= most) return value;
    throw invalid(`limits.${name} must be a whole number from ${least} to ${most}, not ${value}`);
  };
  return {
    maxContentBytes: read("maxContentBytes"),
    callTimeoutMs: read("callTimeoutMs"),
    probeTimeoutMs: read("probeTimeoutMs"),
    startTimeoutMs: read("startTimeoutMs"),
    maxTimeouts: read("maxTimeouts"),
    maxPendingCalls: read("maxPendingCalls"),
    graceMs: read("graceMs"),
  };
}

function refuseUnknown(options: object, names: readonly string[]): void {
  const unknown = Object.keys(options).find((name) => !names.includes(name));
  if (unknown !== undefined) throw invalid(`there is no option ${unknown}; there are: ${names.join(", ")}`);
}

function invalid(message: string): VenvHostError {
  return new VenvHostError("OPTION_INVALID", message);
}
