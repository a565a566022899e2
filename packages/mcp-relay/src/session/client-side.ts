import { isStdioTransportError, type Transport } from "@berth/stdio-transport";
import type { RelayNotice } from "../relay-options.js";
import { errorFrame } from "../translate.js";
import { RelayFault, relayErrors, wireErrorOf } from "../wire-errors.js";

/** Sending to the client. */
export interface ClientSide {
  /** Frames leave in call order. */
  send(frame: Uint8Array): void;
  /** Sends an answer; one that is over the client's limit becomes an error, so that no request stays without. */
  respond(idBytes: Uint8Array, frame: Uint8Array): void;
}

/** What the client's side needs. */
export interface ClientSideOptions {
  readonly transport: Transport;
  readonly pauseAboveBytes: number;
  /** The client does not keep up, or does again. */
  onPause(paused: boolean): void;
  /** The client does not read at all and memory for it is used up. */
  onStuck(): void;
  onNotice(notice: RelayNotice): void;
}

/** Back-pressure: servers are not read while more than `pauseAboveBytes` wait for the client. */
export function createClientSide(options: ClientSideOptions): ClientSide {
  const { transport, pauseAboveBytes } = options;
  let paused = false;

  const settled = (): void => {
    if (!paused || transport.queuedBytes > pauseAboveBytes / 2) return;
    paused = false;
    options.onPause(false);
  };

  const transmit = (frame: Uint8Array, onTooLarge: () => void): void => {
    transport.send(frame).then(settled, (error: unknown) => {
      if (!isStdioTransportError(error) || error.code === "TRANSPORT_CLOSED") return;
      if (error.code === "QUEUE_FULL") options.onStuck();
      else onTooLarge();
    });
    if (paused || transport.queuedBytes <= pauseAboveBytes) return;
    paused = true;
    options.onPause(true);
  };

  const drop = (): void =>
    options.onNotice({ code: "FRAME_TOO_LARGE", message: "a message to the client is over the limit" });

  return {
    send: (frame) => transmit(frame, drop),
    respond: (idBytes, frame) => {
      transmit(frame, () => transmit(errorFrame(idBytes, wireErrorOf(tooLarge(frame.length))), drop));
    },
  };
}

function tooLarge(byteLength: number): RelayFault {
  const problem = `an answer of ${byteLength} bytes is over the limit of this connection`;
  return new RelayFault({ code: relayErrors.upstreamGone, reason: "FRAME_TOO_LARGE", problem });
}
