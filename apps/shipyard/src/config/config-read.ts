import { isLeaseError, readProfile } from "@berth/environment-leases";
import { isMap, isScalar, isSeq, LineCounter, type ParsedNode, parseDocument } from "yaml";
import { namesServed } from "../http/names-served.js";
import { defaultProfile, withDefaultLimits } from "../profiles/default-profile.js";
import type { ShipyardConfig } from "./config.js";
import { checkFile, type FileCheck, type ShipyardFile } from "./config-schema.js";

/** One thing that is wrong with a configuration. Secrets are never in a file, so values may be shown. */
export interface ConfigProblem {
  readonly line: number;
  readonly message: string;
}

/** A configuration, or everything that is wrong with it. */
export type ConfigReading =
  | { readonly ok: true; readonly config: ShipyardConfig }
  | { readonly ok: false; readonly problems: readonly ConfigProblem[] };

type Path = readonly PropertyKey[];

interface Fault {
  readonly path: Path;
  readonly message: string;
}

/** Reads the text of a `shipyard.yaml` (YAML 1.2 core, one document). An empty text is the default configuration. Never throws. */
export function readConfig(text: string): ConfigReading {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false, logLevel: "error" });
  const lineAt = (offset: number): number => lines.linePos(offset).line;
  if (document.errors.length > 0) {
    const problems = document.errors.map((error) => ({ line: lineAt(error.pos[0]), message: error.message }));
    return { ok: false, problems };
  }
  const check = checkFile(tryPlainValue(document) ?? {});
  const faults = check.ok ? faultsOfMeaning(check.file) : check.issues.flatMap(faultsOfIssue);
  if (check.ok && faults.length === 0) return { ok: true, config: configOf(check.file) };
  const problems = faults.map(({ path, message }) => ({ line: lineAt(placeOf(document.contents, path)), message }));
  return { ok: false, problems: problems.sort((a, b) => a.line - b.line) };
}

function configOf(file: ShipyardFile): ShipyardConfig {
  const { provider } = file;
  const named = Object.entries(file.profiles).map(([name, profile]) => [
    name,
    withDefaultLimits({ ...profile, provider }),
  ]);
  return { ...file, profiles: { python: defaultProfile(provider), ...Object.fromEntries(named) } };
}

/** What the form of a document does not show. */
function faultsOfMeaning(file: ShipyardFile): readonly Fault[] {
  const { profiles, profile } = configOf(file);
  const faults: Fault[] = [];
  if (!Object.hasOwn(profiles, profile)) {
    faults.push({ path: ["profile"], message: `profile: there is no profile ${profile}` });
  }
  for (const [name, given] of Object.entries(profiles)) {
    for (const { field, fault } of faultsOfProfile(name, given)) {
      const path = ["profiles", name, ...field.split(/[.[\]]+/u).filter((step) => step !== "")];
      faults.push({ path, message: `profiles.${name}.${field} ${fault}` });
    }
  }
  file.allowedHosts.forEach((name, at) => {
    if (!isHostName(name))
      faults.push({ path: ["allowedHosts", at], message: `allowedHosts: ${name} is no host name` });
  });
  return [...faults, ...faultsOfCeilings(file)];
}

/** Defaults of the packages count where the file is silent. */
function faultsOfCeilings({ leases, sessions }: ShipyardFile): readonly Fault[] {
  const { defaultTtlMs = 900_000, maxLifetimeMs = 86_400_000 } = leases;
  const { defaultCallMs = 0, maxCallMs = 600_000 } = sessions;
  const over = (path: readonly string[], ceiling: string): Fault => ({
    path,
    message: `${path.join(".")} is over ${ceiling}`,
  });
  return [
    ...(defaultTtlMs > maxLifetimeMs ? [over(["leases", "defaultTtlMs"], "leases.maxLifetimeMs")] : []),
    ...(defaultCallMs > maxCallMs ? [over(["sessions", "defaultCallMs"], "sessions.maxCallMs")] : []),
  ];
}

function isHostName(name: string): boolean {
  try {
    namesServed([name]);
    return true;
  } catch {
    return false; // said here with its line
  }
}

function faultsOfProfile(name: string, profile: unknown): readonly { field: string; fault: string }[] {
  try {
    readProfile(name, profile);
    return [];
  } catch (error) {
    if (!isLeaseError(error)) throw error;
    return error.faults;
  }
}

/** Aliases that would grow without end count as no value, which the schema refuses. */
function tryPlainValue(document: ReturnType<typeof parseDocument>): unknown {
  try {
    return document.toJS();
  } catch {
    return "aliases"; // not a mapping: reported as such
  }
}

type Issue = Extract<FileCheck, { ok: false }>["issues"][number];

function faultsOfIssue(issue: Issue): readonly Fault[] {
  if (issue.code === "unrecognized_keys") {
    return issue.keys.map((key) => ({
      path: [...issue.path, key],
      message: `${[...issue.path, key].join(".")} is an unknown key`,
    }));
  }
  return [{ path: issue.path, message: `${issue.path.join(".") || "the document"}: ${issue.message}` }];
}

/** Offset of the key or item at `path`, or of the nearest place above it that exists. */
function placeOf(root: ParsedNode | null, path: Path): number {
  let node: unknown = root;
  let offset = root?.range[0] ?? 0;
  for (const step of path) {
    if (isSeq(node)) {
      node = node.items[Number(step)];
      if (isScalar(node) || isMap(node) || isSeq(node)) offset = node.range?.[0] ?? offset;
      continue;
    }
    if (!isMap(node)) return offset;
    const pair = node.items.find(({ key }) => isScalar(key) && String(key.value) === String(step));
    if (pair === undefined) return offset;
    if (isScalar(pair.key)) offset = pair.key.range?.[0] ?? offset;
    node = pair.value;
  }
  return offset;
}
