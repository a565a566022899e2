import type { Scheduler } from "@berth/jsonrpc-framing";
import type { ServerTerms } from "../relay-terms.js";
import { type RelayFault, upstreamGone } from "../wire-errors.js";
import type { LiveChild } from "./child.js";

/** The start of one server: one at a time, shared by all that ask, given up at its deadline. */
export interface SharedStart {
  readonly active: boolean;
  /** The start under way, or a new one. */
  run(): Promise<LiveChild>;
  /** Gives the start under way up, and settles when that was done. */
  giveUp(fault: RelayFault): Promise<void>;
}

/** Nothing is started before `run`. */
export function createSharedStart(
  bringUp: (signal: AbortSignal) => Promise<LiveChild>,
  { name, waits }: ServerTerms,
  scheduler: Scheduler,
): SharedStart {
  let starting: { readonly done: Promise<LiveChild>; readonly abort: AbortController } | undefined;

  const start = (): Promise<LiveChild> => {
    const abort = new AbortController();
    const { startMs } = waits;
    const timer = scheduler.after(startMs, () => abort.abort(upstreamGone(name, "START_TIMEOUT", `${startMs} ms`)));
    const done = bringUp(abort.signal).finally(() => {
      timer.cancel();
      starting = undefined;
    });
    starting = { done, abort };
    return done;
  };

  return {
    get active() {
      return starting !== undefined;
    },
    run: () => starting?.done ?? start(),
    async giveUp(fault) {
      starting?.abort.abort(fault);
      await starting?.done.catch(() => undefined);
    },
  };
}
