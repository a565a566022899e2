import { tell } from "../tell.js";
import { AuthError } from "./errors.js";
import { type KeyLookup, readKeySet } from "./jose.js";
import type { KeySource, KeySourceOptions } from "./key-source.js";
import { untilAborted } from "./until-aborted.js";

/**
 * Keys that are fetched when they are first needed, kept for `cacheMs`, and fetched again for a key that is unknown. However many tokens come, there is at most
 * one fetch under way, and after one `coolDownMs` without, or `retryMs` when it failed. While the issuer cannot be reached, known keys count for `staleMs` more,
 * and nobody who has one waits for fetches that will hardly be better than the last. The address was checked.
 */
export function createRemoteKeys(address: string, options: KeySourceOptions): KeySource {
  const { jose, bounds, now, onKeysError } = options;
  const url = new URL(address);
  let keys: KeyLookup | undefined;
  let fetchedAt = 0;
  let attemptedAt = Number.NEGATIVE_INFINITY;
  let fault: unknown;
  let pending: Promise<void> | undefined;

  // A clock that was set back is no reason to never ask again.
  const age = (at: number): number => (now() < at ? Number.POSITIVE_INFINITY : now() - at);
  const attempt = async (): Promise<void> => {
    attemptedAt = now();
    try {
      keys = readKeySet(jose, await fetchText(url, bounds.maxKeySetBytes, bounds.fetchMs), bounds.maxKeys);
      fetchedAt = now();
      fault = undefined;
    } catch (error) {
      fault = error;
      tell(onKeysError, error);
    }
  };
  const refresh = (): Promise<void> => {
    const pause = fault === undefined ? Math.min(bounds.coolDownMs, bounds.cacheMs) : bounds.retryMs;
    if (pending === undefined && age(attemptedAt) >= pause) {
      pending = attempt().finally(() => {
        pending = undefined;
      });
    }
    return pending ?? Promise.resolve();
  };
  const known = (forMs: number): KeyLookup | undefined => (age(fetchedAt) < forMs ? keys : undefined);
  const unavailable = (): AuthError =>
    new AuthError("KEYS_UNAVAILABLE", `the keys at ${url.origin} cannot be had`, { cause: fault });

  return {
    async current(signal) {
      const fresh = known(bounds.cacheMs);
      if (fresh !== undefined) return fresh;
      const isFailing = fault !== undefined;
      const refreshed = refresh();
      const stale = known(bounds.cacheMs + bounds.staleMs);
      if (isFailing && stale !== undefined) return stale;
      await untilAborted(refreshed, signal);
      const found = known(bounds.cacheMs + bounds.staleMs);
      if (found === undefined) throw unavailable();
      return found;
    },
    async newerThan(used, signal) {
      if (keys !== undefined && keys !== used) return keys;
      await untilAborted(refresh(), signal);
      if (keys !== undefined && keys !== used) return keys;
      // The issuer may have that key by now: an answer of "not valid" would be a guess.
      if (fault !== undefined) throw unavailable();
      return undefined;
    },
  };
}

/** Throws what `fetch` throws, and plain errors for what is no set of keys; all of it is a cause of `KEYS_UNAVAILABLE`. */
async function fetchText(url: URL, maxBytes: number, timeoutMs: number): Promise<string> {
  const response = await fetch(url, {
    headers: { accept: "application/jwk-set+json, application/json" },
    // Keys come from where the operator said, not from where an answer points.
    redirect: "error",
    signal: AbortSignal.timeout(timeoutMs),
  });
  const { status, body } = response;
  if (status !== 200 || body === null) {
    await body?.cancel();
    throw new Error(`status ${status}`);
  }
  const decoder = new TextDecoder("utf-8", { fatal: true });
  let text = "";
  let total = 0;
  // Leaving the loop cancels the body.
  for await (const chunk of body) {
    total += chunk.length;
    if (total > maxBytes) throw new Error(`more than ${maxBytes} bytes`);
    text += decoder.decode(chunk, { stream: true });
  }
  return text + decoder.decode();
}
