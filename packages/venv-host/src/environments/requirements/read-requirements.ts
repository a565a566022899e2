import { realpath } from "node:fs/promises";
import { dirname, isAbsolute, join } from "node:path";
import { withoutCredentials } from "../credentials-in-urls.js";
import { readSmallFile } from "../small-file.js";
import { fileUrlPath, localPathOf, readLocalFile } from "./local-file.js";
import { type LogicalLine, logicalLines } from "./logical-lines.js";
import { readOption } from "./option-line.js";
import { directUrlOf, readRequirement } from "./requirement-line.js";
import { requirementsFault, requirementsLimits } from "./requirements-fault.js";

/** What an installer is told, read once: files that change later change nothing. */
export interface Requirements {
  readonly lines: readonly string[];
  readonly constraints: readonly string[];
  /** The same without places and credentials, in an order of its own: for the key. */
  readonly identity: { readonly requirements: readonly string[]; readonly constraints: readonly string[] };
}

/** How files are read. */
export interface ReadRules {
  /** The environment that the installer gets. */
  readonly env: Readonly<Record<string, string>>;
  readonly requireHashes: boolean;
  /** Whether a file may say where distributions come from. */
  readonly mayChooseIndex: boolean;
  readonly signal?: AbortSignal | undefined;
}

interface Entry {
  readonly line: string;
  readonly identity: string;
}

interface Reading {
  readonly rules: ReadRules;
  readonly entries: { readonly requirement: Entry[]; readonly constraint: Entry[] };
  files: number;
  lines: number;
}

type Purpose = keyof Reading["entries"];

/** Reads requirements and constraints with all that they include. Rejects with `REQUIREMENTS_INVALID`. */
export async function readRequirements(
  file: string | undefined,
  constraints: readonly string[],
  rules: ReadRules,
): Promise<Requirements> {
  const reading: Reading = { rules, entries: { requirement: [], constraint: [] }, files: 0, lines: 0 };
  if (file !== undefined) await readFileInto(reading, file, "requirement", []);
  for (const constraint of constraints) await readFileInto(reading, constraint, "constraint", []);
  const { requirement, constraint } = reading.entries;
  return {
    lines: unique(requirement.map(({ line }) => line)),
    constraints: unique(constraint.map(({ line }) => line)),
    identity: {
      requirements: unique(requirement.map(({ identity }) => identity)),
      constraints: unique(constraint.map(({ identity }) => identity)),
    },
  };
}

const unique = (texts: readonly string[]): readonly string[] => [...new Set(texts)].sort();

async function readFileInto(reading: Reading, file: string, purpose: Purpose, above: readonly string[]): Promise<void> {
  reading.rules.signal?.throwIfAborted();
  if (above.length >= requirementsLimits.maxDepth) {
    throw requirementsFault(file, `is included more than ${requirementsLimits.maxDepth} levels deep`);
  }
  reading.files += 1;
  if (reading.files > requirementsLimits.maxFiles) {
    throw requirementsFault(file, `is one file more than the ${requirementsLimits.maxFiles} that may be included`);
  }
  const path = await realpath(file).catch((error: unknown) => {
    throw requirementsFault(file, "cannot be read", error);
  });
  if (above.includes(path)) throw requirementsFault(path, `includes itself: ${[...above, path].join(" → ")}`);
  for (const line of logicalLines(await textOf(path), reading.rules.env)) {
    reading.lines += 1;
    if (reading.lines > requirementsLimits.maxLines) {
      throw requirementsFault(path, `more than ${requirementsLimits.maxLines} lines together`);
    }
    await readLine(reading, line, { path, purpose, above: [...above, path] });
  }
}

async function textOf(path: string): Promise<string> {
  const bytes = await readSmallFile(path, requirementsLimits.maxFileBytes).catch((error: unknown) => {
    throw requirementsFault(path, "cannot be read", error);
  });
  if (bytes === undefined) {
    throw requirementsFault(path, `is no file of at most ${requirementsLimits.maxFileBytes} bytes`);
  }
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    if (!text.includes("\0")) return text;
  } catch {
    // said below
  }
  throw requirementsFault(path, "is not text in UTF-8");
}

interface Place {
  readonly path: string;
  readonly purpose: Purpose;
  readonly above: readonly string[];
}

async function readLine(reading: Reading, { text, number }: LogicalLine, place: Place): Promise<void> {
  const where = `${place.path}:${number}`;
  // Python ends lines at some of them: what is one line here would be two for the installer.
  if (/\p{Cc}/u.test(text)) throw requirementsFault(where, "holds a control character");
  const unknown = /\$\{([A-Z0-9_]+)\}/.exec(text)?.[1];
  if (unknown !== undefined)
    throw requirementsFault(where, `uses the variable ${unknown}, which the installer will not have`);
  const folder = dirname(place.path);
  if (!text.startsWith("-")) return addRequirement(reading, text, where, place.purpose, folder);
  const option = readOption(text, where);
  if ("includes" in option) {
    if (/^[a-z][a-z0-9+.-]*:\/\//i.test(option.includes))
      throw requirementsFault(where, "includes a file of another machine");
    const included = isAbsolute(option.includes) ? option.includes : join(folder, option.includes);
    return readFileInto(reading, included, option.as === "requirement" ? place.purpose : "constraint", place.above);
  }
  if (option.choosesIndex && !reading.rules.mayChooseIndex) {
    throw requirementsFault(where, `${option.name} is not allowed: the store says where distributions come from`);
  }
  const isFolder = option.name === "--find-links" && !/^[a-z][a-z0-9+.-]*:/i.test(option.value ?? "");
  const value = isFolder ? join(isAbsolute(option.value ?? "") ? "/" : folder, option.value ?? "") : option.value;
  const line = value === undefined ? option.name : `${option.name} ${value}`;
  reading.entries.requirement.push({ line, identity: withoutCredentials(line) });
}

async function addRequirement(
  reading: Reading,
  text: string,
  where: string,
  purpose: Purpose,
  folder: string,
): Promise<void> {
  const [spec = "", ...options] = text.split(/\s+(?=--)/);
  const { signal } = reading.rules;
  const unconditional = spec.replace(/ ?;.*$/, "");
  const path = localPathOf(unconditional, folder);
  if (path !== undefined && unconditional !== spec) {
    throw requirementsFault(where, "gives a file a condition: name it in a requirements file for where it holds");
  }
  const local = path === undefined ? undefined : await readLocalFile(path, where, signal);
  const requirement = readRequirement(local === undefined ? text : ["local", ...options].join(" "));
  if (requirement === undefined) throw requirementsFault(where, "is no requirement that can be read (PEP 508)");
  const direct = local === undefined ? await readDirect(reading, requirement.text, where) : undefined;
  const hashes = requirement.options.filter((option) => option.startsWith("--hash="));
  if (reading.rules.requireHashes && purpose === "requirement" && hashes.length === 0) {
    throw requirementsFault(where, "has no --hash, which this store requires of each requirement");
  }
  const named = local === undefined ? requirement.text : local.path;
  // A folder may have any name; an installer would read these as the end of the line, a comment or a variable.
  if (/\p{Cc}| #|\$\{/u.test(named))
    throw requirementsFault(where, "names a file in a folder that cannot be written down");
  reading.entries[purpose].push({
    line: [named, ...requirement.options].join(" "),
    identity: withoutCredentials([(local ?? direct)?.identity ?? requirement.text, ...requirement.options].join(" ")),
  });
}

/** `NAME @ URL`: a file of this machine is measured; any other is an index of the file's own. */
async function readDirect(
  { rules }: Reading,
  text: string,
  where: string,
): Promise<{ readonly identity: string } | undefined> {
  const url = directUrlOf(text);
  if (url === undefined) return undefined;
  const path = /^file:/i.test(url) ? fileUrlPath(url) : undefined;
  if (path !== undefined) {
    const { identity } = await readLocalFile(path, where, rules.signal);
    return { identity: text.replace(url, () => identity) };
  }
  if (rules.mayChooseIndex) return undefined;
  throw requirementsFault(where, "says itself where it comes from, which the store does");
}
