import type { Scheduler } from "@berth/jsonrpc-framing";
import type { ChildOptions, SpawnFunction } from "./child-options.js";
import { StdioTransportError } from "./errors.js";
import { readChoice, readNumber, refuseUnknown } from "./read-options.js";
import { readTransportLimits, type TransportTerms, transportLimitNames } from "./transport-terms.js";

/** ChildOptions with defaults filled in; the only form that internal code sees. */
export interface ChildTerms {
  readonly transport: TransportTerms;
  readonly file: string;
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string | undefined;
  readonly spawn: SpawnFunction | undefined;
  readonly containment: "auto" | "group";
  readonly registry: string | undefined;
  readonly inputMs: number;
  readonly terminateMs: number;
  readonly killMs: number;
  readonly startTimeoutMs: number;
  readonly tailBytes: number;
  readonly maxLineBytes: number;
  readonly onStderrLine: ((line: string) => void) | undefined;
  readonly signal: AbortSignal | undefined;
  readonly scheduler: Scheduler;
}

/** @throws {StdioTransportError} `OPTION_INVALID`. */
export function readChildOptions(options: ChildOptions, scheduler: Scheduler): ChildTerms {
  refuseUnknown(options, childOptionNames);
  refuseUnknown(options.graceMs ?? {}, Object.keys(graceDefaults));
  const { graceMs } = options;
  const grace = (name: keyof typeof graceDefaults): number =>
    readNumber(`graceMs.${name}`, graceMs?.[name], {
      least: graceLeast[name],
      most: 600_000,
      otherwise: graceDefaults[name],
    });
  if (options.file === "") throw new StdioTransportError("OPTION_INVALID", "file is empty");
  checkStrings("args", [options.file, options.argv0 ?? "", ...options.args]);
  checkStrings("env", Object.values(options.env));
  for (const name of Object.keys(options.env)) checkName(name);
  return {
    transport: readTransportLimits(options),
    file: options.file,
    argv: [options.argv0 ?? options.file, ...options.args],
    env: options.env,
    cwd: options.cwd,
    spawn: options.spawn,
    containment: readChoice("containment", options.containment, ["auto", "group"]),
    registry: options.registry,
    inputMs: grace("inputMs"),
    terminateMs: grace("terminateMs"),
    killMs: grace("killMs"),
    startTimeoutMs: readNumber("startTimeoutMs", options.startTimeoutMs, {
      least: 1,
      most: 600_000,
      otherwise: 10_000,
    }),
    tailBytes: readNumber("stderrTailBytes", options.stderrTailBytes, {
      least: 0,
      most: 16_777_216,
      otherwise: 65_536,
    }),
    maxLineBytes: readNumber("maxStderrLineBytes", options.maxStderrLineBytes, {
      least: 80,
      most: 1_048_576,
      otherwise: 8_192,
    }),
    onStderrLine: options.onStderrLine,
    signal: options.signal,
    scheduler: options.scheduler ?? scheduler,
  };
}

const childOptionNames: readonly string[] = [
  "file",
  "argv0",
  "args",
  "env",
  "cwd",
  "spawn",
  "containment",
  "registry",
  "graceMs",
  "startTimeoutMs",
  "stderrTailBytes",
  "maxStderrLineBytes",
  "onStderrLine",
  "signal",
  "scheduler",
  ...transportLimitNames,
];
const graceDefaults = { inputMs: 2_000, terminateMs: 2_000, killMs: 5_000 } as const;
const graceLeast = { inputMs: 0, terminateMs: 0, killMs: 100 } as const;

/** The values are not named in the message: they may be secret. */
function checkStrings(where: string, strings: readonly string[]): void {
  if (strings.every((text) => typeof text === "string" && !text.includes("\0"))) return;
  throw new StdioTransportError("OPTION_INVALID", `${where} must hold strings without NUL`);
}

function checkName(name: string): void {
  if (name !== "" && !name.includes("=") && !name.includes("\0")) return;
  throw new StdioTransportError("OPTION_INVALID", `not a name for an environment variable: ${JSON.stringify(name)}`);
}
