import { basename, join } from "node:path";
import type { FoundDistribution } from "../health/distributions.js";
import type { Installer } from "../installer.js";
import { directUrlOf, normalName } from "../requirements/requirement-line.js";
import { readSmallFile } from "../small-file.js";
import { unlessMissing } from "../system-fault.js";
import { tryJson } from "../try-json.js";

// Unpacking a wheel runs none of its code; the build of a source distribution does. So installers are told to take wheels
// only, and source distributions by name, each after it was told.

/** Which distributions may be built from source: none but these, or any. */
export type SourcesAllowed = readonly string[] | "any";

/** What an installer that was to take wheels only could not find. */
export type Wheelless = { readonly names: readonly string[] } | "unfit";

const maxNames = 100;
// While an index cannot be reached, pip says that there is no distribution; uv says what it is.
const unreachable = /Retrying \(Retry\(|Could not fetch URL|NewConnectionError|HTTP error \d/;
const wheelless: Readonly<Record<Installer["kind"], RegExp>> = {
  uv: /(?:Wheels are required for|Building source distributions for) `([A-Za-z0-9][\w.-]*)/g,
  pip: /No matching distribution found for ([A-Za-z0-9][\w.-]*)/g,
};

/** Whether an installer failed for want of wheels; undefined: for another reason. `unfit`: pip does not name them. */
export function findWheelless(kind: Installer["kind"], output: string): Wheelless | undefined {
  if (kind === "pip" && unreachable.test(output)) return undefined;
  const found = [...output.matchAll(wheelless[kind])].slice(0, maxNames).map(([, name = ""]) => normalName(name));
  if (found.length > 0) return { names: [...new Set(found)] };
  return kind === "pip" && output.includes("ResolutionImpossible") ? "unfit" : undefined;
}

/** What requirements themselves say is to be built from source, as read-requirements.ts writes them. */
export function sourcesAskedFor(lines: readonly string[]): SourcesAllowed {
  const names = lines.flatMap((line) => sourceOf(line.split(" --")[0] ?? ""));
  const chosen = lines.flatMap((line) => /^--no-binary[ =](.*)$/.exec(line)?.[1]?.split(",") ?? []);
  const opened = lines.some((line) => /^--only-binary[ =](.*,)?:none:/.test(line));
  if (opened || chosen.includes(":all:")) return "any";
  return [...new Set([...names, ...chosen.filter((name) => name !== ":none:").map(normalName)])];
}

/** The name of a requirement that is a file or URL of something else than a wheel. */
function sourceOf(requirement: string): readonly string[] {
  const url = directUrlOf(requirement);
  const place = url ?? (requirement.startsWith("/") ? requirement : undefined);
  if (place === undefined || isWheel(place)) return [];
  const named = url === undefined ? basename(place).replace(/-\d.*$|\.(zip|tgz|tar\.gz)$/i, "") : requirement;
  const name = /^[A-Za-z0-9][\w.-]*/.exec(named)?.[0];
  return name === undefined ? [] : [normalName(name)];
}

const isWheel = (place: string): boolean => /\.whl$/i.test(place.replace(/[?#].*$/s, "").replace(/\[[^\]]*\]$/, ""));

const maxDirectUrlBytes = 65_536;

/**
 * The first distribution that was installed from the URL of something else than a wheel (Recording the Direct URL Origin of
 * installed distributions, § Specification): also wheels may name such a one, and pip then asks nobody.
 */
export async function findBuiltByUrl(
  sitePackages: string,
  found: readonly FoundDistribution[],
): Promise<string | undefined> {
  for (const { name, folder } of found) {
    const file = join(sitePackages, folder, "direct_url.json");
    const bytes = await unlessMissing(readSmallFile(file, maxDirectUrlBytes));
    const value = bytes === undefined ? undefined : tryJson(bytes.toString("utf8"));
    if (typeof value !== "object" || value === null || !("url" in value)) continue;
    if (typeof value.url !== "string" || !isWheel(value.url)) return name;
  }
  return undefined;
}
