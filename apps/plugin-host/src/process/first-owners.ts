import { told } from "./plugin-words.js";

/** What one plugin lists by address. */
export interface Listing<R> {
  readonly plugin: string;
  readonly listed: readonly R[];
}

/**
 * An address that several plugins list belongs to the first of them, as several servers of a gateway have it: addresses stay as they are, so only one plugin can be
 * asked. The others' are left out.
 * @param entries What they are called.
 * @param onNote Told of each plugin's in one line.
 */
export function firstOwners<R extends { readonly address: string }>(
  entries: string,
  listings: readonly Listing<R>[],
  onNote: (plugin: string, line: string) => void,
): readonly R[] {
  const owners = new Map<string, string>();
  return listings.flatMap(({ plugin, listed }) => {
    const taken: string[] = [];
    const kept = listed.filter(({ address }) => {
      if (owners.has(address)) {
        taken.push(address);
        return false;
      }
      owners.set(address, plugin);
      return true;
    });
    if (taken.length > 0) {
      const whose = [...new Set(taken.map((address) => owners.get(address) ?? ""))];
      const before = whose.map((one) => (one === plugin ? "itself" : `plugin ${one}`)).join(", ");
      onNote(
        plugin,
        `${taken.length} ${entries} are left out, since they are listed before by ${before}: ${told(taken)}`,
      );
    }
    return kept;
  });
}
