import { acquire } from "./acquire.js";
import { collect } from "./collect.js";
import { planOf } from "./environment-parts.js";
import type {
  AcquireOptions,
  EnvironmentStore,
  EnvironmentStoreOptions,
  HeldEnvironment,
} from "./environment-store.js";
import { listEnvironments } from "./list-environments.js";
import { closedError, openStoreParts } from "./store-parts.js";
import { readRequest, readStoreOptions } from "./store-terms.js";
import { inStore } from "./system-fault.js";

/**
 * Opens a store of environments, and makes its folder. Any number of processes may have one store open at once.
 * @throws {VenvHostError} `OPTION_INVALID`, `STORE_UNUSABLE`.
 */
export async function openEnvironmentStore(options: EnvironmentStoreOptions): Promise<EnvironmentStore> {
  const terms = readStoreOptions(options);
  const ending = new AbortController();
  const parts = await openStoreParts(terms, ending.signal);
  const held = new Set<HeldEnvironment>();
  const running = new Set<Promise<unknown>>();

  /** Runs one job: it ends with the store, which waits for it. */
  const run = <T>(signal: AbortSignal | undefined, job: (signal: AbortSignal) => Promise<T>): Promise<T> => {
    if (ending.signal.aborted) return Promise.reject(ending.signal.reason);
    if (signal?.aborted === true) return Promise.reject(signal.reason);
    const joined = signal === undefined ? ending.signal : AbortSignal.any([signal, ending.signal]);
    const work = job(joined);
    running.add(work);
    return work.finally(() => running.delete(work));
  };
  const endAll = async (): Promise<void> => {
    ending.abort(closedError());
    await Promise.allSettled(running);
    await Promise.all([...held].map((environment) => environment.close()));
  };
  let closing: Promise<void> | undefined;
  const close = (): Promise<void> => (closing ??= endAll());

  return {
    keyOf: (request, wait) =>
      run(wait?.signal, async (signal) => (await planOf(readRequest(request), terms, parts, signal)).key),
    acquire: (request, wait: AcquireOptions = {}) =>
      run(wait.signal, async (signal) => {
        const environment = await acquire(parts, readRequest(request), { ...wait, signal });
        held.add(environment);
        return forgetting(environment, held);
      }),
    list: (wait) =>
      run(wait?.signal, (signal) => inStore(parts.folder.root, "list", () => listEnvironments(parts, signal))),
    collect: (bounds) =>
      run(bounds.signal, (signal) => inStore(parts.folder.root, "collect", () => collect(parts, bounds, signal))),
    close,
    [Symbol.asyncDispose]: close,
  };
}

/** The same environment, which the store need no longer close once it is closed. */
function forgetting(environment: HeldEnvironment, held: Set<HeldEnvironment>): HeldEnvironment {
  const close = (): Promise<void> => {
    held.delete(environment);
    return environment.close();
  };
  return { ...environment, close, [Symbol.asyncDispose]: close };
}
