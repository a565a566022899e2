import { resolve } from "node:path";
import type { IndexPolicy } from "@berth/venv-host";
import { AppError } from "./errors.js";

/** How environments are made, as the command line says it. */
export interface StoreFlags {
  readonly state: string;
  readonly installer?: string | undefined;
  readonly index?: string | undefined;
  readonly wheels?: readonly string[] | undefined;
  readonly requireHashes?: boolean | undefined;
  readonly onlyWheels?: boolean | undefined;
  /** True: required; false: never; undefined: where it holds, with `wheels`. */
  readonly confineInstalls?: boolean | undefined;
}

/** What every command that runs plugins is told. */
export interface HostFlags extends StoreFlags {
  readonly config: string;
  /** The folder whose `plugins` holds the plugins' code. */
  readonly cwd?: string | undefined;
  readonly logLevel?: string | undefined;
}

/** How environments are made, checked. */
export interface StoreTerms {
  readonly installer: "auto" | "uv" | "pip";
  readonly index: IndexPolicy;
  readonly requireHashes: boolean;
  readonly onlyWheels: boolean;
  readonly confineInstalls: "required" | "where it holds" | "never";
}

/** @throws {AppError} `USAGE` */
export function readStoreFlags(flags: StoreFlags): StoreTerms {
  const { installer = "auto", index, wheels = [], requireHashes = false, onlyWheels = false, confineInstalls } = flags;
  if (installer !== "auto" && installer !== "uv" && installer !== "pip") {
    throw new AppError("USAGE", `--installer ${installer} is none of auto, uv, pip`);
  }
  if (index !== undefined && wheels.length > 0) throw new AppError("USAGE", "--index and --wheels exclude one another");
  if (confineInstalls === true && wheels.length === 0) {
    throw new AppError("USAGE", "--confine-installs needs --wheels: a confined install has no network");
  }
  const isOffline = wheels.length > 0;
  return {
    installer,
    index: indexOf(index, wheels),
    requireHashes,
    onlyWheels,
    confineInstalls:
      confineInstalls === true ? "required" : confineInstalls !== false && isOffline ? "where it holds" : "never",
  };
}

function indexOf(index: string | undefined, wheels: readonly string[]): IndexPolicy {
  if (index !== undefined) return { from: "index", url: index };
  return wheels.length === 0 ? { from: "default" } : { from: "wheels", folders: wheels.map((path) => resolve(path)) };
}

const levels = ["debug", "info", "warn", "error", "silent"];

/** @throws {AppError} `USAGE` */
export function readLogLevel(level: string | undefined, preset: string): string {
  if (level === undefined) return preset;
  if (!levels.includes(level)) throw new AppError("USAGE", `--log ${level} is none of ${levels.join(", ")}`);
  return level;
}
