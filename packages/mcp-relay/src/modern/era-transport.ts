import {
  type Envelope,
  type Frame,
  isFramingError,
  type OversizeEnvelope,
  type OversizeFrame,
  type Scheduler,
  scanEnvelope,
} from "@berth/jsonrpc-framing";
import type { FrameReceiver, Transport } from "@berth/stdio-transport";
import { copySpan, encodeText, resultFrame } from "../translate.js";
import { type ClientTerms, readClientTerms } from "./client-terms.js";
import { initializeResult, isDiscovery, readOffers } from "./discovery.js";
import { createModernFront, discoverId, type ModernFront } from "./modern-front.js";

/** All of the grammar: members are looked for in what was scanned. */
const strictly = { grammar: "full", duplicateKeys: "refuse" } as const;

/** Where the finding out of the era is. */
type Stage =
  | { readonly name: "opening" }
  /** `initialize` is under way. */
  | { readonly name: "initializing"; readonly hello: Uint8Array; readonly id: string | number }
  | Discovering
  | { readonly name: "legacy" }
  | { readonly name: "modern"; readonly front: ModernFront };

/** It was refused, and `server/discover` is under way. */
interface Discovering {
  readonly name: "discovering";
  readonly hello: Uint8Array;
  readonly id: string | number;
  readonly client: ClientTerms;
  readonly refusal: Frame;
}

/** Whose server it is, and by which clock. */
export interface EraOptions {
  /** Name of the server in errors. */
  readonly server: string;
  readonly scheduler: Scheduler;
}

/**
 * A server of any revision as one that is opened with `initialize`. A server that answers it passes through as it is. One that refuses it is asked
 * `server/discover`; when it answers that, it is spoken to in 2026-07-28 (MCP 2026-07-28, Transports § Backward compatibility), else its refusal
 * stands. What is passed on keeps its bytes, but for ids, `_meta` of requests, and what older revisions do not know in results. One machine over the
 * life of a transport, hence its length.
 */
export function createEraTransport(transport: Transport, { server, scheduler }: EraOptions): Transport {
  let stage: Stage = { name: "opening" };
  let receiver: FrameReceiver | undefined;
  const toServer = (frame: Uint8Array): void => {
    // A server that is gone, or does not read, is told of by the end of the transport, or by the call's deadline.
    transport.send(frame).catch(() => undefined);
  };
  /** Behind whatever is being sent now: who sends does not expect to receive meanwhile. */
  const toClient = (bytes: Uint8Array): void => queueMicrotask(() => receiver?.onFrame({ bytes, offset: 0 }));

  const discover = (hello: Uint8Array, id: string | number, refusal: Frame): void => {
    const client = readClientTerms(hello, scanEnvelope(hello));
    stage = { name: "discovering", hello, id, client, refusal };
    const params = `{"_meta":{${client.meta(undefined)}}}`;
    toServer(encodeText(`{"jsonrpc":"2.0","id":"${discoverId}","method":"server/discover","params":${params}}`));
  };
  /** The answer to `initialize`: made of a discovery, or the refusal of before. */
  const settle = ({ hello, client, refusal }: Discovering, { bytes, offset }: Frame, envelope: Envelope): Frame => {
    const result = introduction(hello, client, bytes, envelope);
    if (result === undefined) {
      stage = { name: "legacy" };
      return refusal;
    }
    const send = (frame: Uint8Array): Promise<void> => transport.send(frame);
    const offers = readOffers(bytes, envelope);
    const front = createModernFront({ client, offers, server, scheduler, send, toServer, toClient });
    stage = { name: "modern", front };
    return { bytes: result, offset };
  };
  /** What the client gets of an answer before the era is known. */
  const opened = (frame: Frame, envelope: Envelope): Frame | undefined => {
    const id = envelope.id?.value;
    if (stage.name === "discovering") {
      if (id === discoverId) return settle(stage, frame, envelope);
      return id === stage.id ? undefined : frame; // A second answer to `initialize` comes too late.
    }
    if (stage.name !== "initializing" || id !== stage.id) return frame;
    if (envelope.error !== undefined) {
      discover(stage.hello, stage.id, { bytes: frame.bytes.slice(), offset: frame.offset });
      return undefined;
    }
    stage = { name: "legacy" };
    return frame;
  };
  /** What the client gets of a message now. */
  const passed = (frame: Frame): Frame | undefined => {
    const envelope = tryScan(frame.bytes);
    // No message: for the one behind to judge, which ends a server that writes none.
    if (envelope === undefined) return frame;
    if (stage.name === "modern") {
      const bytes = stage.front.fromServer(frame.bytes, envelope);
      return bytes && { bytes, offset: frame.offset };
    }
    return envelope.result === undefined && envelope.error === undefined ? frame : opened(frame, envelope);
  };
  const receive = (frame: Frame): void => {
    const kept = stage.name === "legacy" ? frame : passed(frame);
    if (kept !== undefined) receiver?.onFrame(kept);
  };
  /** As what counts a message that was too large to keep. */
  const counted = (envelope: OversizeEnvelope): OversizeEnvelope => {
    if (stage.name === "modern") return stage.front.oversize(envelope);
    if (stage.name !== "discovering" || envelope.kind === "request") return envelope;
    if (envelope.id === stage.id) return { kind: "notification" };
    // Whatever it is, the handshake fails over its size.
    return envelope.id === discoverId ? { ...envelope, id: stage.id } : envelope;
  };
  const oversize = (frame: OversizeFrame): void =>
    receiver?.onOversize?.({ ...frame, envelope: frame.envelope && counted(frame.envelope) });

  const send: Transport["send"] = (frame, options) => {
    if (stage.name === "legacy") return transport.send(frame, options);
    const envelope = scanEnvelope(frame);
    if (stage.name === "modern") return stage.front.fromClient(frame, envelope);
    if (envelope.method === "initialize" && envelope.id !== undefined)
      stage = { name: "initializing", hello: frame.slice(), id: envelope.id.value };
    return transport.send(frame, options);
  };

  return {
    start(given) {
      receiver = given;
      transport.start({
        onFrame: receive,
        ...(given.onOversize === undefined ? {} : { onOversize: oversize }),
        onFault: (fault, frame) => given.onFault(fault, frame),
        onClose: (cause) => {
          if (stage.name === "modern") stage.front.close();
          given.onClose(cause);
        },
      });
    },
    send,
    pause: () => transport.pause(),
    resume: () => transport.resume(),
    get queuedBytes() {
      return transport.queuedBytes;
    },
    close: () => transport.close(),
    closed: transport.closed,
    [Symbol.asyncDispose]: () => transport.close(),
  };
}

/** The answer to `initialize` that a discovery stands for; undefined for what is none. */
function introduction(
  hello: Uint8Array,
  client: ClientTerms,
  bytes: Uint8Array,
  envelope: Envelope,
): Uint8Array | undefined {
  const { id } = scanEnvelope(hello);
  try {
    if (id === undefined || !isDiscovery(bytes, envelope)) return undefined;
    return resultFrame(copySpan(hello, id), initializeResult(bytes, envelope, client.revision));
  } catch (error) {
    if (isFramingError(error)) return undefined; // Lists and objects of more members than are looked at.
    throw error;
  }
}

function tryScan(frame: Uint8Array): Envelope | undefined {
  try {
    return scanEnvelope(frame, undefined, strictly);
  } catch (error) {
    if (isFramingError(error)) return undefined;
    throw error;
  }
}
