import type { Frame, FramingError } from "@berth/jsonrpc-framing";
import type { FrameReceiver, Transport } from "@berth/stdio-transport";

/** A transport without streams: a test hands frames over and looks at what was sent, at once and in one process. */
export interface DirectTransport extends Transport {
  readonly sent: Uint8Array[];
  /** As if these bytes had come as one line. */
  deliver(bytes: Uint8Array): void;
  fault(fault: FramingError, frame?: Frame): void;
  /** As if the peer had ended the stream. */
  end(): void;
}

/** Open until closed. `onSend` sees each frame after it was sent. */
export function createDirectTransport(onSend?: (frame: Uint8Array) => void): DirectTransport {
  const sent: Uint8Array[] = [];
  let receiver: FrameReceiver | undefined;
  let offset = 0;
  let isClosed = false;
  let settle: () => void = () => undefined;
  const closed = new Promise<void>((resolve) => {
    settle = resolve;
  });
  const close = async (): Promise<void> => {
    if (isClosed) return;
    isClosed = true;
    receiver?.onClose(undefined);
    settle();
  };
  return {
    sent,
    closed,
    close,
    queuedBytes: 0,
    pause: () => undefined,
    resume: () => undefined,
    start(given) {
      receiver = given;
    },
    async send(frame) {
      if (isClosed) return;
      sent.push(frame);
      onSend?.(frame);
    },
    deliver(bytes) {
      if (!isClosed) receiver?.onFrame({ bytes, offset });
      offset += bytes.length + 1;
    },
    fault(fault, frame) {
      if (!isClosed) receiver?.onFault(fault, frame);
    },
    end: () => void close(),
    [Symbol.asyncDispose]: close,
  };
}
