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
  readonly confineInstalls: boolean;
}

/** @throws {AppError} `USAGE` */
export function readStoreFlags(flags: StoreFlags): StoreTerms {
  const { installer = "auto", index, wheels = [], requireHashes = false, confineInstalls = false } = flags;
  if (installer !== "auto" && installer !== "uv" && installer !== "pip") {
    throw new AppError("USAGE", `--installer ${installer} is none of auto, uv, pip`);
  }
  if (index !== undefined && wheels.length > 0) throw new AppError("USAGE", "--index and --wheels exclude one another");
  if (confineInstalls && wheels.length === 0) {
    throw new AppError("USAGE", "--confine-installs needs --wheels: a confined install has no network");
  }
  return { installer, index: indexOf(index, wheels), requireHashes, confineInstalls };
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
