import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { canonicalText } from "../canonical.js";
import type { Plan } from "./environment-parts.js";
import { type ReadyMarker, readMarker } from "./health/ready-marker.js";
import { unlessMissing } from "./system-fault.js";

const maxLooked = 1_000;

/** Why a request that had an environment needs another one now, in one sentence; undefined when it never had one. */
export async function whyAnother(environments: string, plan: Plan): Promise<string | undefined> {
  let last: ReadyMarker | undefined;
  for (const key of ((await unlessMissing(readdir(environments))) ?? []).slice(0, maxLooked)) {
    if (key === plan.key.digest) continue;
    const marker = await readMarker(join(environments, key)).catch(() => undefined); // told where it is asked for
    if (marker?.subject === plan.subject && marker.builtAt > (last?.builtAt ?? -1)) last = marker;
  }
  return last === undefined ? undefined : whatChanged(last.parts, plan.key.parts);
}

type Parts = Readonly<Record<string, unknown>>;

/** The first difference that a person would name. */
export function whatChanged(before: Parts, after: Parts): string | undefined {
  const changed = Object.keys(after).filter(
    (name) => canonicalText(before[name] ?? null) !== canonicalText(after[name]),
  );
  if (changed.includes("interpreter")) return interpreterChange(before["interpreter"], after["interpreter"]);
  if (changed.includes("requirements"))
    return listChange("requirements", before["requirements"], after["requirements"]);
  if (changed.includes("constraints")) return listChange("constraints", before["constraints"], after["constraints"]);
  if (changed.includes("installer"))
    return `the installer went from ${text(before["installer"])} to ${text(after["installer"])}`;
  if (changed.includes("index")) return "the policy that says where distributions come from changed";
  if (changed.includes("requireHashes")) return "the policy about hashes changed";
  if (changed.includes("onlyWheels")) return "the policy about source distributions changed";
  if (changed.includes("isConfined")) return "the policy about the confinement of installs changed";
  return changed.length === 0 ? undefined : "this version of the host makes environments in another way";
}

function interpreterChange(before: unknown, after: unknown): string {
  const [was, is] = [member(before, "version"), member(after, "version")];
  if (was !== is) return `the interpreter went from ${was} to ${is}`;
  const [from, to] = [member(before, "path"), member(after, "path")];
  return from === to ? `the interpreter ${to} is another build of ${is}` : `the interpreter went from ${from} to ${to}`;
}

function listChange(name: string, before: unknown, after: unknown): string {
  const [was, is] = [texts(before), texts(after)];
  const added = is.filter((each) => !was.includes(each));
  const removed = was.filter((each) => !is.includes(each));
  const parts = [...added.map((each) => `+ ${each}`), ...removed.map((each) => `- ${each}`)];
  const shown = parts
    .slice(0, 3)
    .map((each) => each.slice(0, 100))
    .join(", ");
  return `the ${name} changed: ${shown}${parts.length > 3 ? `, and ${parts.length - 3} more` : ""}`;
}

const text = (value: unknown): string => (typeof value === "string" ? value : "another");
const texts = (value: unknown): readonly string[] =>
  Array.isArray(value) ? value.filter((each) => typeof each === "string") : [];

function member(value: unknown, name: string): string {
  const found: unknown =
    typeof value === "object" && value !== null ? Object.entries(value).find(([key]) => key === name)?.[1] : "";
  return text(found);
}
