import { type FrameReceiver, type SendOptions, StdioTransportError, type Transport } from "@berth/stdio-transport";

/** What a client needs of the half that it belongs to. */
export interface McpClientOptions {
  readonly maxMessageBytes: number;
  /** Bytes that are held for a client that is paused, or not started. One more, and the client is closed: no other waits for it. */
  readonly maxHeldBytes: number;
  /** Takes one frame of it; resolves when the system has it. Never rejects. */
  readonly take: (bytes: Uint8Array, client: McpClient) => Promise<void>;
  /** Called once: what it asked is cancelled. */
  readonly onClosed: (client: McpClient) => void;
}

/** One client of the MCP half. */
export interface McpClient {
  readonly transport: Transport;
  /** Gives it a frame, in order. The bytes must not be changed afterwards. */
  deliver(bytes: Uint8Array): void;
  /** Ends it, after all that was delivered. */
  finish(cause: Error | undefined): void;
}

const lineFeed = 0x0a;

/** The contract of `Transport` over the frames that the half has for this client. One state machine, hence its length. */
export function createMcpClient(options: McpClientOptions): McpClient {
  const { maxMessageBytes, maxHeldBytes } = options;
  let receiver: FrameReceiver | undefined;
  let held: Uint8Array[] = [];
  let heldBytes = 0;
  let offset = 0;
  let queuedBytes = 0;
  let isPaused = false;
  let isPumping = false;
  let finished: { readonly cause: Error | undefined } | undefined;
  let open: () => void = () => {};
  const closed = new Promise<void>((resolve) => {
    open = resolve;
  });

  const pump = (to: FrameReceiver): void => {
    if (isPumping) return;
    isPumping = true;
    while (held.length > 0 && (!isPaused || finished !== undefined)) {
      const bytes = held.shift();
      if (bytes === undefined) break;
      heldBytes -= bytes.length;
      guarded(() => to.onFrame({ bytes, offset }));
      offset += bytes.length + 1;
    }
    isPumping = false;
    if (finished !== undefined) tellEnd(to, finished.cause);
  };
  let isEndTold = false;
  const tellEnd = (to: FrameReceiver, cause: Error | undefined): void => {
    if (isEndTold) return;
    isEndTold = true;
    guarded(() => to.onClose(cause));
    open();
  };
  const deliver = (bytes: Uint8Array): void => {
    if (finished !== undefined) return;
    held.push(bytes);
    heldBytes += bytes.length;
    if (receiver !== undefined) pump(receiver);
    if (heldBytes > maxHeldBytes) {
      held = [];
      heldBytes = 0;
      finish(new StdioTransportError("QUEUE_FULL", `${maxHeldBytes} bytes wait for a client that does not read`));
    }
  };
  const finish = (cause: Error | undefined): void => {
    if (finished !== undefined) return;
    finished = { cause };
    options.onClosed(client);
    if (receiver !== undefined) pump(receiver);
    else open();
  };
  const close = (): Promise<void> => {
    held = [];
    heldBytes = 0;
    finish(undefined);
    return closed;
  };
  const refusal = (bytes: Uint8Array, signal: AbortSignal | undefined): unknown => {
    if (signal?.aborted) return signal.reason;
    if (finished !== undefined) {
      return new StdioTransportError("TRANSPORT_CLOSED", "the transport was closed", { cause: finished.cause });
    }
    if (bytes.length > maxMessageBytes) {
      return new StdioTransportError(
        "FRAME_TOO_LARGE",
        `a frame of ${bytes.length} bytes is over the limit of ${maxMessageBytes}`,
      );
    }
    if (Buffer.prototype.indexOf.call(bytes, lineFeed) >= 0) {
      return new StdioTransportError("FRAME_HAS_NEWLINE", "a frame must not hold a line feed");
    }
    return undefined;
  };
  const send = async (bytes: Uint8Array, sendOptions?: SendOptions): Promise<void> => {
    const refused = refusal(bytes, sendOptions?.signal);
    if (refused !== undefined) throw refused;
    queuedBytes += bytes.length;
    const taken = options.take(bytes, client).finally(() => {
      queuedBytes -= bytes.length;
    });
    await orAborted(taken, sendOptions?.signal);
  };
  const start = (to: FrameReceiver): void => {
    if (receiver !== undefined) throw new Error("a transport is started once");
    receiver = to;
    pump(to);
  };
  const transport: Transport = {
    start,
    send,
    pause: () => {
      isPaused = true;
    },
    resume: () => {
      isPaused = false;
      if (receiver !== undefined) pump(receiver);
    },
    get queuedBytes() {
      return queuedBytes;
    },
    close,
    closed,
    [Symbol.asyncDispose]: close,
  };
  const client: McpClient = { transport, deliver, finish };
  return client;
}

/** A receiver that throws has a bug: it becomes an uncaught exception, and what it did not see is still delivered. */
function guarded(callback: () => void): void {
  try {
    callback();
  } catch (error) {
    process.nextTick(() => {
      throw error;
    });
  }
}

async function orAborted(wait: Promise<void>, signal: AbortSignal | undefined): Promise<void> {
  if (signal === undefined) return wait;
  let onAbort: () => void = () => {};
  const aborted = new Promise<never>((_, reject) => {
    onAbort = () => reject(signal.reason);
    signal.addEventListener("abort", onAbort, { once: true });
  });
  try {
    await Promise.race([wait, aborted]);
  } finally {
    signal.removeEventListener("abort", onAbort);
  }
}
