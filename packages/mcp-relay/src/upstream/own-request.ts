import type { Envelope } from "@berth/jsonrpc-framing";
import type { Peer } from "./peer.js";
import type { Waits } from "./pending.js";

/** What a server said to a request of the relay's own. */
export interface OwnAnswer {
  readonly kind: "response" | "error";
  readonly frame: Uint8Array;
  readonly envelope: Envelope;
}

/** Asks on the relay's own behalf. Rejects with the `RelayFault` when no answer comes. */
export function askPeer(peer: Peer, build: (id: number) => Uint8Array, waits: Waits): Promise<OwnAnswer> {
  return new Promise((resolve, reject) => {
    peer.call(build, {
      waits,
      settle: (answer) => (answer.kind === "fault" ? reject(answer.fault) : resolve(answer)),
    });
  });
}
