import { isAbsolute } from "node:path";
import { type Scheduler, systemScheduler } from "@berth/jsonrpc-framing";
import type { Confine } from "../confine.js";
import { VenvHostError } from "../errors.js";
import type { BuildLimits, EnvironmentRequest, EnvironmentStoreOptions, IndexPolicy } from "./environment-store.js";

/** EnvironmentStoreOptions with defaults filled in; the only form that the rest of the store sees. */
export interface StoreTerms {
  readonly path: string;
  readonly installer: "auto" | "uv" | "pip";
  readonly index: IndexPolicy;
  readonly requireHashes: boolean;
  readonly onlyWheels: boolean;
  readonly buildTimeoutMs: number;
  readonly maxOutputBytes: number;
  readonly maxEnvironmentBytes: number;
  readonly confine: Confine | undefined;
  readonly ifNotConfined: "refuse" | "warn";
  readonly env: Readonly<Record<string, string>>;
  readonly now: () => number;
  readonly scheduler: Scheduler;
}

/** EnvironmentRequest with defaults filled in. */
export interface RequestTerms {
  readonly interpreter: string;
  readonly requirements: string | undefined;
  readonly constraints: readonly string[];
}

const storeNames = [
  ...["path", "installer", "index", "requireHashes", "onlyWheels", "limits"],
  ...["confine", "ifNotConfined", "env", "now", "scheduler"],
];

/** Checks what the caller gave. Throws `OPTION_INVALID`. */
export function readStoreOptions(options: EnvironmentStoreOptions): StoreTerms {
  knownOnly(options, storeNames);
  const { limits = {}, installer = "auto", env = {}, ifNotConfined = "refuse" } = options;
  knownOnly(limits, ["buildTimeoutMs", "maxOutputBytes", "maxEnvironmentBytes"]);
  if (typeof options.path !== "string") throw invalid("path must be a text");
  if (!["auto", "uv", "pip"].includes(installer)) throw invalid("installer must be auto, uv or pip");
  if (!["refuse", "warn"].includes(ifNotConfined)) throw invalid("ifNotConfined must be refuse or warn");
  for (const [name, value] of Object.entries(env)) {
    // The value is not shown: it may be secret.
    if (!/^[A-Za-z_]\w*$/.test(name) || typeof value !== "string" || value.includes("\0"))
      throw invalid(`env.${name} is no variable`);
  }
  return {
    path: options.path,
    installer,
    index: readIndex(options.index ?? { from: "default" }),
    requireHashes: options.requireHashes === true,
    onlyWheels: options.onlyWheels === true,
    ...readLimits(limits),
    confine: options.confine,
    ifNotConfined,
    env: { ...env },
    now: options.now ?? Date.now,
    scheduler: options.scheduler ?? systemScheduler,
  };
}

function readLimits(
  limits: BuildLimits,
): Pick<StoreTerms, "buildTimeoutMs" | "maxOutputBytes" | "maxEnvironmentBytes"> {
  return {
    buildTimeoutMs: bounded("buildTimeoutMs", limits.buildTimeoutMs, 600_000, 1_000, 86_400_000),
    maxOutputBytes: bounded("maxOutputBytes", limits.maxOutputBytes, 65_536, 4_096, 16_777_216),
    maxEnvironmentBytes: bounded("maxEnvironmentBytes", limits.maxEnvironmentBytes, 2_147_483_648, 1_048_576, 2 ** 40),
  };
}

function bounded(name: string, given: number | undefined, otherwise: number, least: number, most: number): number {
  const value = given ?? otherwise;
  if (Number.isSafeInteger(value) && value >= least && value <= most) return value;
  throw invalid(`limits.${name} must be a whole number from ${least} to ${most}`);
}

function readIndex(index: IndexPolicy): IndexPolicy {
  if (index.from === "default") return { from: "default" };
  if (index.from === "index") return { from: "index", url: checkedUrl(index.url) };
  if (index.from !== "wheels") throw invalid("index.from must be default, index or wheels");
  if (index.folders.length < 1 || index.folders.length > 100 || !index.folders.every(isAbsolute)) {
    throw invalid("index.folders must be 1 to 100 absolute paths");
  }
  return { from: "wheels", folders: [...index.folders] };
}

function checkedUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const isLoopback = url !== undefined && ["localhost", "127.0.0.1", "[::1]"].includes(url.hostname);
  if (url?.protocol === "https:" || (url?.protocol === "http:" && isLoopback)) return url.href;
  // Not shown: it may hold a password.
  throw invalid("index.url must be an https URL, or an http URL of this machine");
}

/** Checks one request. Throws `OPTION_INVALID`. */
export function readRequest(request: EnvironmentRequest): RequestTerms {
  knownOnly(request, ["interpreter", "requirements", "constraints"]);
  const { interpreter = "python3", requirements, constraints = [] } = request;
  if (typeof interpreter !== "string" || interpreter.includes("\0")) throw invalid("interpreter must be a text");
  const files = [...constraints, ...(requirements === undefined ? [] : [requirements])];
  if (
    constraints.length > 20 ||
    !files.every((file) => typeof file === "string" && isAbsolute(file) && !file.includes("\0"))
  ) {
    throw invalid("requirements and constraints must be absolute paths, at most 20 constraints");
  }
  return { interpreter, requirements, constraints: [...constraints] };
}

function knownOnly(value: object, names: readonly string[]): void {
  const unknown = Object.keys(value).find((name) => !names.includes(name));
  if (unknown !== undefined) throw invalid(`there is no option ${JSON.stringify(unknown.slice(0, 100))}`);
}

function invalid(message: string): VenvHostError {
  return new VenvHostError("OPTION_INVALID", message);
}
