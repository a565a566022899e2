import { readSmallFile } from "../environments/small-file.js";
import { unlessMissing } from "../environments/system-fault.js";
import { tryJson } from "../environments/try-json.js";

const maxOwnersBytes = 1_048_576;

/** The classes that own an environment (CPEX fact sheet § 5.4): absent and corrupt files are none. */
export async function readOwners(path: string): Promise<readonly string[]> {
  const bytes = await unlessMissing(readSmallFile(path, maxOwnersBytes));
  return bytes === undefined ? [] : ownersOf(bytes.toString("utf8"));
}

function ownersOf(text: string): readonly string[] {
  const value = tryJson(text);
  const owners: unknown = typeof value === "object" && value !== null && "owners" in value ? value.owners : undefined;
  return Array.isArray(owners) ? owners.filter((owner) => typeof owner === "string") : [];
}

export function ownersText(owners: readonly string[]): string {
  return JSON.stringify({ owners: [...new Set(owners)].sort() }, undefined, 2);
}
