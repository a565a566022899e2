import type { UpstreamConnection } from "../connection.js";
import type { RelayFault } from "../wire-errors.js";
import type { PendingRequests } from "./pending.js";

/** Whether a peer lives, and how it ends. */
export interface PeerLife {
  readonly gone: boolean;
  /** Ends it, once: the owner is told, pending requests get the fault, the connection is closed. */
  lose(reason: string, cause: () => RelayFault | Promise<RelayFault>): void;
  /** Settles when all of that is done; never rejects. */
  readonly finished: Promise<void>;
}

/** Who is told of the end, and whose requests it fails. */
export interface PeerLifeOptions {
  readonly connection: UpstreamConnection;
  readonly pending: PendingRequests;
  onGone(reason: string): void;
  /** The host could not end the child. */
  onNotEnded(error: unknown): void;
}

/** A life that has just begun. */
export function createPeerLife({ connection, pending, onGone, onNotEnded }: PeerLifeOptions): PeerLife {
  let finish: () => void = () => undefined;
  const finished = new Promise<void>((resolve) => {
    finish = resolve;
  });

  const end = async (reason: string, cause: () => RelayFault | Promise<RelayFault>): Promise<void> => {
    try {
      onGone(reason);
    } finally {
      const fault = await cause();
      for (const request of pending.takeAll()) request.settle({ kind: "fault", fault });
      await connection.close().catch(onNotEnded);
      finish();
    }
  };

  const life = {
    gone: false,
    finished,
    lose(reason: string, cause: () => RelayFault | Promise<RelayFault>) {
      if (life.gone) return;
      life.gone = true;
      void end(reason, cause);
    },
  };
  return life;
}
