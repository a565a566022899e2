import { type OversizeFrame, parseMessage, type RequestId, wireErrors } from "@berth/jsonrpc-framing";
import { createPendingIds } from "./sdk-pending-ids.js";
import type { FrameReceiver, Transport } from "./transport.js";

/** What both official SDKs call `JSONRPCMessage`, as far as a transport needs to know it. */
export interface SdkMessage {
  readonly jsonrpc: "2.0";
}

/**
 * Fits the `Transport` of `@modelcontextprotocol/sdk` 1.x and of `@modelcontextprotocol/client` and `server` 2.x, client and
 * server side alike. The SDK sets the callbacks.
 */
export interface SdkTransport {
  onclose?: (() => void) | undefined;
  onerror?: ((error: Error) => void) | undefined;
  onmessage?: ((message: SdkMessage) => void) | undefined;
  sessionId?: string | undefined;
  setProtocolVersion?: ((version: string) => void) | undefined;
  /** Opens the transport, if it was given as a function, and begins to read. Call once. */
  start(): Promise<void>;
  /** Rejects as `Transport.send` does. The SDKs' options concern HTTP only. */
  send(message: SdkMessage, options?: unknown): Promise<void>;
  close(): Promise<void>;
}

/** The SDKs' own code for a lost connection (`ErrorCode.ConnectionClosed`). */
const connectionClosed = -32000;

/**
 * Gives one of our transports, or one that is opened when the SDK starts it, to an SDK client or server. An answer that
 * was too large fails its own call and no other; when the peer is lost, each call that waits is told why; what is not a
 * message goes to `onerror`.
 */
export function sdkTransport(source: Transport | (() => Promise<Transport>)): SdkTransport {
  const pending = createPendingIds();
  let opened: Promise<Transport> | undefined;

  const report = (error: Error): void => sdk.onerror?.(error);
  const answer = (id: RequestId, code: number, text: string, reason: string): void => {
    const message = errorResponse(id, code, text, reason);
    pending.received(message);
    sdk.onmessage?.(message);
  };
  const onOversize = ({ byteLength, envelope }: OversizeFrame): void => {
    const text = `a message of ${byteLength} bytes is over the limit`;
    report(new Error(text));
    if (envelope?.id === undefined) return;
    if (envelope.kind !== "request") answer(envelope.id, wireErrors.internal, text, "FRAME_TOO_LARGE");
    else send(errorResponse(envelope.id, wireErrors.invalidRequest, text, "FRAME_TOO_LARGE")).catch(report);
  };
  const receiver: FrameReceiver = {
    onFrame: ({ bytes }) => {
      const message = tryParse(bytes, report);
      if (message === undefined) return;
      pending.received(message);
      sdk.onmessage?.(message);
    },
    onFault: report,
    onOversize,
    onClose: (cause) => {
      if (cause !== undefined) {
        const reason = "code" in cause ? String(cause.code) : cause.name;
        for (const id of pending.take()) answer(id, connectionClosed, cause.message, reason);
        report(cause);
      }
      sdk.onclose?.();
    },
  };
  const open = async (): Promise<Transport> => {
    const transport = typeof source === "function" ? await source() : source;
    transport.start(receiver);
    return transport;
  };
  const start = async (): Promise<void> => {
    if (opened !== undefined) throw new Error("a transport is started once");
    opened = open();
    await opened;
  };
  const send = async (message: SdkMessage): Promise<void> => {
    if (opened === undefined) throw new Error("the transport was not started");
    const transport = await opened;
    pending.sent(message);
    await transport.send(Buffer.from(JSON.stringify(message))).catch(pending.notSent(message));
  };
  const close = async (): Promise<void> => {
    if (opened === undefined) {
      if (typeof source !== "function") await source.close();
      sdk.onclose?.();
      return;
    }
    const transport = await opened.catch(() => undefined); // what did not open was told by `start`
    await transport?.close();
  };
  const sdk: SdkTransport = { start, send, close };
  return sdk;
}

function tryParse(bytes: Uint8Array, report: (error: Error) => void): SdkMessage | undefined {
  try {
    return { ...parseMessage(bytes).value, jsonrpc: "2.0" };
  } catch (error) {
    report(error instanceof Error ? error : new Error(String(error)));
    return undefined;
  }
}

function errorResponse(id: RequestId, code: number, message: string, reason: string): SdkMessage {
  const response = { jsonrpc: "2.0" as const, id, error: { code, message, data: { reason } } };
  return response;
}
