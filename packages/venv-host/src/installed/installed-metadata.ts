import { lstat } from "node:fs/promises";
import { readSmallFile } from "../environments/small-file.js";
import { unlessMissing } from "../environments/system-fault.js";
import { tryJson } from "../environments/try-json.js";
import type { InstalledVerdict } from "./installed-environment.js";

/** What an installer noted of an environment, as far as it decides anything (CPEX fact sheet § 5.2). */
export interface InstalledMetadata {
  readonly requirementsHash: string;
  /** Undefined: absent or null, no signal. */
  readonly manifestVersion: string | undefined;
  readonly manifestHash: string | undefined;
}

const maxMetadataBytes = 1_048_576;

/** `missing`, `unreadable`, or what it says. */
export async function readMetadata(path: string): Promise<InstalledMetadata | "missing" | "unreadable"> {
  if ((await unlessMissing(lstat(path))) === undefined) return "missing";
  const bytes = await unlessMissing(readSmallFile(path, maxMetadataBytes));
  return (bytes === undefined ? undefined : metadataOf(bytes.toString("utf8"))) ?? "unreadable";
}

function metadataOf(text: string): InstalledMetadata | undefined {
  const value = tryJson(text);
  if (typeof value !== "object" || value === null) return undefined;
  const members: Members = value;
  const { requirements_hash: requirementsHash, venv_path: venvPath } = members;
  if (typeof requirementsHash !== "string" || typeof venvPath !== "string") return undefined;
  return {
    requirementsHash,
    manifestVersion: signalOf(members.manifest_version),
    manifestHash: signalOf(members.manifest_hash),
  };
}

interface Members {
  readonly requirements_hash?: unknown;
  readonly venv_path?: unknown;
  readonly manifest_version?: unknown;
  readonly manifest_hash?: unknown;
}

/** Something else than text is a signal too, and one that nothing equals. */
function signalOf(value: unknown): string | undefined {
  if (value === undefined || value === null) return undefined;
  return typeof value === "string" ? value : "\0";
}

/** What is expected now. */
export interface ExpectedMetadata {
  /** Hashes are undefined for files that are too large to be measured. */
  readonly requirementsHash: string | undefined;
  readonly manifestVersion: string | undefined;
  readonly manifestHash: string | undefined;
}

/** In the order of the fact sheet, § 5.3. An absent signal is none; a present one against an unknown value has changed. */
export function judgeMetadata(noted: InstalledMetadata, expected: ExpectedMetadata): InstalledVerdict {
  if (noted.requirementsHash !== expected.requirementsHash) return "requirements changed";
  if (noted.manifestVersion !== undefined && noted.manifestVersion !== expected.manifestVersion) {
    return "manifest version changed";
  }
  if (noted.manifestHash !== undefined && noted.manifestHash !== expected.manifestHash) return "manifest hash changed";
  return "valid";
}
