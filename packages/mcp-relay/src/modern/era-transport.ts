import { type Envelope, type Frame, isFramingError, type OversizeFrame, scanEnvelope } from "@berth/jsonrpc-framing";
import type { FrameReceiver, Transport } from "@berth/stdio-transport";
import { copySpan, encodeText, resultFrame } from "../translate.js";
import { type ClientTerms, readClientTerms } from "./client-terms.js";
import { initializeResult, isDiscovery, readOffers } from "./discovery.js";
import { createModernFront, type ModernFront } from "./modern-front.js";

/** Of the one request that is sent before the era is known. */
const discoverId = "berth-discover";

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
  readonly client: ClientTerms;
  readonly refusal: Frame;
}

/**
 * A server of any revision as one that is opened with `initialize`. A server that answers it passes through as it is. One that refuses it is asked
 * `server/discover`; when it answers that, it is spoken to in 2026-07-28 (MCP 2026-07-28, Transports § Backward compatibility), else its refusal
 * stands. What is passed on keeps its bytes, but for ids, `_meta` of requests, and `resultType`, `ttlMs` and `cacheScope` of results.
 */
export function createEraTransport(server: Transport): Transport {
  let stage: Stage = { name: "opening" };
  let receiver: FrameReceiver | undefined;
  const toServer = (frame: Uint8Array): void => {
    // A server that is gone, or does not read, is told of by the end of the transport, or by the call's deadline.
    server.send(frame).catch(() => undefined);
  };
  /** Behind whatever is being sent now: who sends does not expect to receive meanwhile. */
  const toClient = (bytes: Uint8Array): void => queueMicrotask(() => receiver?.onFrame({ bytes, offset: 0 }));

  const discover = (hello: Uint8Array, refusal: Frame): void => {
    const client = readClientTerms(hello, scanEnvelope(hello));
    stage = { name: "discovering", hello, client, refusal };
    const params = `{"_meta":{${client.meta(undefined)}}}`;
    toServer(encodeText(`{"jsonrpc":"2.0","id":"${discoverId}","method":"server/discover","params":${params}}`));
  };
  /** The answer to `initialize`: made of a discovery, or the refusal of before. */
  const settle = ({ hello, client, refusal }: Discovering, { bytes, offset }: Frame, envelope: Envelope): Frame => {
    const { id } = scanEnvelope(hello);
    if (id === undefined || !isDiscovery(bytes, envelope)) {
      stage = { name: "legacy" };
      return refusal;
    }
    const send = (frame: Uint8Array): Promise<void> => server.send(frame);
    const front = createModernFront({ client, offers: readOffers(bytes, envelope), send, toServer, toClient });
    stage = { name: "modern", front };
    return { bytes: resultFrame(copySpan(hello, id), initializeResult(bytes, envelope, client.revision)), offset };
  };
  /** What the client gets of a message now. */
  const passed = (frame: Frame): Frame | undefined => {
    const envelope = stage.name === "legacy" ? undefined : tryScan(frame.bytes);
    // No message: for the one behind to judge, which ends a server that writes none.
    if (envelope === undefined) return frame;
    if (stage.name === "modern") {
      const bytes = stage.front.fromServer(frame.bytes, envelope);
      return bytes && { bytes, offset: frame.offset };
    }
    if (envelope.result === undefined && envelope.error === undefined) return frame;
    const id = envelope.id?.value;
    if (stage.name === "discovering" && id === discoverId) return settle(stage, frame, envelope);
    if (stage.name !== "initializing" || id !== stage.id) return frame;
    if (envelope.error !== undefined) {
      discover(stage.hello, { bytes: frame.bytes.slice(), offset: frame.offset });
      return undefined;
    }
    stage = { name: "legacy" };
    return frame;
  };
  const receive = (frame: Frame): void => {
    const kept = passed(frame);
    if (kept !== undefined) receiver?.onFrame(kept);
  };
  const oversize = (frame: OversizeFrame): void => {
    const id = stage.name === "modern" ? stage.front.clientIdOf(frame.envelope?.id) : undefined;
    const envelope = id === undefined || frame.envelope === undefined ? frame.envelope : { ...frame.envelope, id };
    receiver?.onOversize?.({ ...frame, envelope });
  };

  const send: Transport["send"] = (frame, options) => {
    if (stage.name === "legacy") return server.send(frame, options);
    const envelope = scanEnvelope(frame);
    if (stage.name === "modern") return stage.front.fromClient(frame, envelope);
    if (envelope.method === "initialize" && envelope.id !== undefined)
      stage = { name: "initializing", hello: frame.slice(), id: envelope.id.value };
    return server.send(frame, options);
  };

  return {
    start(given) {
      receiver = given;
      server.start({
        onFrame: receive,
        ...(given.onOversize === undefined ? {} : { onOversize: oversize }),
        onFault: (fault, frame) => given.onFault(fault, frame),
        onClose: (cause) => given.onClose(cause),
      });
    },
    send,
    pause: () => server.pause(),
    resume: () => server.resume(),
    get queuedBytes() {
      return server.queuedBytes;
    },
    close: () => server.close(),
    closed: server.closed,
    [Symbol.asyncDispose]: () => server.close(),
  };
}

function tryScan(frame: Uint8Array): Envelope | undefined {
  try {
    return scanEnvelope(frame, undefined, strictly);
  } catch (error) {
    if (isFramingError(error)) return undefined;
    throw error;
  }
}
