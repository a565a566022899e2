import type { ManagedProvider } from "../provider.js";
import { confirmOrphanGone } from "./absence.js";
import { faultText } from "./fault-text.js";
import type { Works } from "./maker.js";
import { livingStates } from "./rows.js";

/** Workers of ours without a row that is not terminal. */
export interface Orphans {
  /** Looks for them and destroys what it finds; what could not be confirmed is kept for `retry`. Gives how many there were. */
  find(): Promise<number>;
  /** Tries again what is left; gives how many are left then. */
  retry(): Promise<number>;
  readonly left: number;
}

export function createOrphans({ terms, catalog, rows }: Works): Orphans {
  const left = new Map<string, ManagedProvider>();
  const destroy = async (worker: string, provider: ManagedProvider): Promise<void> => {
    const fault = await confirmOrphanGone(provider, worker, terms);
    if (fault === undefined) left.delete(worker);
    else terms.onFault(new Error(`the worker ${worker} without a lease may still exist: ${fault}`));
  };
  const listOf = async (provider: ManagedProvider): Promise<readonly string[]> => {
    try {
      return await provider.listWorkers();
    } catch (error) {
      terms.onFault(new Error(`${provider.name} could not list its workers: ${faultText(error)}`, { cause: error }));
      return [];
    }
  };
  const destroyAll = async (): Promise<number> => {
    await Promise.all([...left].map(([worker, provider]) => destroy(worker, provider)));
    return left.size;
  };
  return {
    async find() {
      const listed: (readonly [string, ManagedProvider])[] = [];
      for (const provider of catalog.providers.values()) {
        for (const worker of await listOf(provider)) listed.push([worker, provider]);
      }
      // Rows after workers: a worker that was there had its row before it, so one that comes up now is none of these.
      const stored = await terms.store.list({ states: livingStates });
      const owned = new Set([...stored, ...rows.all().map(({ record }) => record)].map(({ worker }) => worker));
      const found = listed.filter(([worker]) => !owned.has(worker) && !left.has(worker));
      for (const [worker, provider] of found) {
        left.set(worker, provider);
        await Promise.resolve(terms.record?.({ kind: "orphan", provider: provider.name, worker })).catch(terms.onFault);
      }
      await destroyAll();
      return found.length;
    },
    retry: destroyAll,
    get left() {
      return left.size;
    },
  };
}
