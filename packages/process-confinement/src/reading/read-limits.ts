import type { ConfinementLimits } from "../policy.js";
import type { Range, ValueReader } from "./read-values.js";

const mib = 2 ** 20;
const tib = 2 ** 40;

/** The limits that a policy can name. */
export const limitNames: readonly (keyof ConfinementLimits)[] = [
  "memoryBytes",
  "processes",
  "cpus",
  "cpuSeconds",
  "fileBytes",
  "openFiles",
  "diskBytes",
  "outputBytes",
];

/** The least and the most of each limit, both included. README § Limits lists the same. */
export const limitRanges: Readonly<Record<keyof ConfinementLimits, Range>> = {
  memoryBytes: { least: 16 * mib, most: tib },
  processes: { least: 2, most: 32_768 },
  cpus: { least: 0.01, most: 256 },
  cpuSeconds: { least: 1, most: 604_800 },
  fileBytes: { least: 0, most: tib },
  openFiles: { least: 16, most: 1_048_576 },
  diskBytes: { least: mib, most: tib },
  outputBytes: { least: 1_024, most: tib },
};

/** @throws {ConfinementError} with the reader's code; the field is `limits.NAME`. */
export function readLimits(reader: ValueReader, value: ConfinementLimits | undefined): ConfinementLimits {
  if (value === undefined) return {};
  reader.object("limits", value);
  reader.refuseUnknown("limits", value, Object.keys(limitRanges));
  const integer = (name: keyof ConfinementLimits): number | undefined =>
    value[name] === undefined ? undefined : reader.integer(`limits.${name}`, value[name], limitRanges[name]);
  return {
    memoryBytes: integer("memoryBytes"),
    processes: integer("processes"),
    cpus: value.cpus === undefined ? undefined : reader.number("limits.cpus", value.cpus, limitRanges.cpus),
    cpuSeconds: integer("cpuSeconds"),
    fileBytes: integer("fileBytes"),
    openFiles: integer("openFiles"),
    diskBytes: integer("diskBytes"),
    outputBytes: integer("outputBytes"),
  };
}
