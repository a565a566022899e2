import { join } from "node:path";
import { canonicalDigest, canonicalText } from "../../canonical.js";
import type { EnvironmentEvidence, InstalledDistribution } from "../evidence.js";
import { readSmallFile, writeSynced } from "../small-file.js";
import { unlessMissing } from "../system-fault.js";
import { tryJson } from "../try-json.js";

/** What makes a folder an environment: written last, with a digest of itself. */
export interface ReadyMarker {
  /** Where it was published: scripts hold this path. */
  readonly path: string;
  readonly subject: string;
  readonly parts: Readonly<Record<string, unknown>>;
  readonly evidence: EnvironmentEvidence;
  /** Relative to the environment. */
  readonly sitePackages: string;
  readonly bytes: number;
  /** Wall clock milliseconds since 1970. */
  readonly builtAt: number;
  readonly durationMs: number;
}

const markerName = "ready.json";
const maxMarkerBytes = 16_777_216;

export function writeMarker(environment: string, marker: ReadyMarker): Promise<void> {
  const text = canonicalText({ marker, digest: canonicalDigest(marker) });
  return writeSynced(join(environment, markerName), `${text}\n`);
}

/** Undefined when there is none, or none that is whole. */
export async function readMarker(environment: string): Promise<ReadyMarker | undefined> {
  const bytes = await unlessMissing(readSmallFile(join(environment, markerName), maxMarkerBytes));
  const outer = bytes === undefined ? undefined : tryJson(bytes.toString("utf8"));
  if (!isObject(outer) || !isObject(outer["marker"])) return undefined;
  return outer["digest"] === tryDigest(outer["marker"]) ? markerOf(outer["marker"]) : undefined;
}

type Members = Readonly<Record<string, unknown>>;

const isObject = (value: unknown): value is Members =>
  typeof value === "object" && value !== null && !Array.isArray(value);

// The digest tells damage; these tell another version's marker.
function markerOf(value: Members): ReadyMarker | undefined {
  const { path, subject, parts, sitePackages, bytes, builtAt, durationMs } = value;
  const evidence = evidenceOf(value["evidence"]);
  const isWhole = isText(path) && isText(subject) && isText(sitePackages) && isObject(parts) && evidence !== undefined;
  if (!isWhole || !isNumber(bytes) || !isNumber(builtAt) || !isNumber(durationMs)) return undefined;
  return { path, subject, parts, evidence, sitePackages, bytes, builtAt, durationMs };
}

function evidenceOf(value: unknown): EnvironmentEvidence | undefined {
  if (!isObject(value) || !isObject(value["interpreter"]) || !Array.isArray(value["distributions"])) return undefined;
  const { digest, key, installer, confinement, builtFromSource } = value;
  const { path, version, sha256 } = value["interpreter"];
  if (!isText(digest) || !isText(key) || !isText(installer) || !isText(confinement)) return undefined;
  if (typeof builtFromSource !== "boolean") return undefined;
  if (!isText(path) || !isText(version) || !isText(sha256)) return undefined;
  const distributions = value["distributions"].map(distributionOf).filter((each) => each !== undefined);
  if (distributions.length !== value["distributions"].length) return undefined;
  return {
    digest,
    key,
    interpreter: { path, version, sha256 },
    installer,
    confinement,
    builtFromSource,
    distributions,
  };
}

function distributionOf(value: unknown): InstalledDistribution | undefined {
  if (!isObject(value)) return undefined;
  const { name, version, recordSha256 } = value;
  if (!isText(name) || !isText(version) || !(recordSha256 === undefined || isText(recordSha256))) return undefined;
  return { name, version, recordSha256 };
}

const isText = (value: unknown): value is string => typeof value === "string";
const isNumber = (value: unknown): value is number => typeof value === "number";

function tryDigest(marker: Members): string | undefined {
  try {
    return canonicalDigest(marker);
  } catch {
    return undefined; // nested so deeply that the stack ends: none of ours
  }
}
