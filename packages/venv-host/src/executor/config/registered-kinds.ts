import { PluginHostError } from "../errors.js";
import type { PluginEntry, PluginsConfig } from "../plugin-config.js";
import type { PluginKind } from "../plugin-kind.js";
import { PHASES } from "../run/phases.js";

const KIND_NAME = /^[a-z][a-z0-9_-]{0,63}$/u;

/** An entry with the kind that runs it. */
export interface PlacedEntry {
  readonly entry: PluginEntry;
  readonly kind: PluginKind;
}

/**
 * Finds the kind of each entry that is not disabled, and lets it check the entry.
 * @throws {PluginHostError} `OPTION_INVALID` for the kinds themselves; `KIND_UNKNOWN` naming those that there are, else
 * `CONFIG_INVALID`: with every fault of all entries.
 */
export function placeEntries(config: PluginsConfig, kinds: readonly PluginKind[]): readonly PlacedEntry[] {
  const byName = readKinds(kinds);
  const names = [...byName.keys()].join(", ") || "none";
  const placed: PlacedEntry[] = [];
  const faults: string[] = [];
  const taken = new Set<string>();
  let isUnknown = false;
  for (const entry of config.plugins.filter(({ mode }) => mode !== "disabled")) {
    const kind = byName.get(entry.kind);
    const place = `${entry.line === undefined ? "" : `line ${entry.line}: `}plugin ${entry.name}: `;
    if (taken.has(entry.name)) faults.push(`${place}its name is another plugin's too`);
    taken.add(entry.name);
    if (!PHASES.includes(entry.mode)) faults.push(`${place}there is no mode ${entry.mode}`); // it would never run
    if (kind === undefined) {
      isUnknown = true;
      faults.push(`${place}there is no kind ${entry.kind}; this host has ${names}`);
      continue;
    }
    faults.push(...kind.check(entry).map((fault) => `${place}${fault}`));
    placed.push({ entry, kind });
  }
  if (faults.length === 0) return placed;
  throw configError(isUnknown ? "KIND_UNKNOWN" : "CONFIG_INVALID", config.file, faults);
}

/** An error with all faults, the first ones in its message too. */
export function configError(
  code: "CONFIG_INVALID" | "KIND_UNKNOWN",
  file: string | undefined,
  faults: readonly string[],
): PluginHostError {
  const shown = faults.slice(0, 3).join("; ");
  const more = faults.length > 3 ? `; and ${faults.length - 3} more` : "";
  return new PluginHostError(code, `${file ?? "the configuration of plugins"}: ${shown}${more}`, { faults });
}

function readKinds(kinds: readonly PluginKind[]): ReadonlyMap<string, PluginKind> {
  const byName = new Map<string, PluginKind>();
  for (const kind of kinds) {
    if (!KIND_NAME.test(kind.name)) throw new PluginHostError("OPTION_INVALID", `${kind.name} is no name of a kind`);
    if (byName.has(kind.name)) throw new PluginHostError("OPTION_INVALID", `kind ${kind.name} is given twice`);
    byName.set(kind.name, kind);
  }
  return byName;
}
