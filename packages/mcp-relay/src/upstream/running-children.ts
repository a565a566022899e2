import type { UpstreamConnection } from "../connection.js";
import type { ServerTerms } from "../relay-terms.js";
import type { RelayFault } from "../wire-errors.js";
import { adoptChild, type Child, type ChildContext } from "./child.js";

/** The children of one server that are not gone yet: those coming up, the one that is called, those being ended. */
export interface RunningChildren {
  adopt(connection: UpstreamConnection): Child;
  /** Stops and starts the reading of all of them, also of those that come later. */
  pause(paused: boolean): void;
  /** Ends all and settles when they are gone. */
  endAll(fault: RelayFault): Promise<void>;
}

/** None yet, and read. */
export function createRunningChildren(terms: ServerTerms, context: ChildContext): RunningChildren {
  const running = new Set<Child>();
  let paused = false;
  return {
    adopt(connection) {
      const child = adoptChild(connection, terms, context);
      running.add(child);
      if (paused) child.peer.pause(true);
      void child.ended.then(() => running.delete(child));
      return child;
    },
    pause(pause) {
      paused = pause;
      for (const { peer } of running) if (!peer.gone) peer.pause(pause);
    },
    async endAll(fault) {
      for (const { peer } of running) peer.end(fault);
      await Promise.all([...running].map(({ ended }) => ended));
    },
  };
}
