import type { Transport } from "@berth/stdio-transport";

/** A JSON value as a test looks at it. */
export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };
/** A message as a test looks at it. */
export interface Message {
  readonly id?: Json;
  readonly method?: string;
  readonly params?: { readonly [key: string]: Json };
  readonly result?: { readonly [key: string]: Json };
  readonly error?: {
    readonly code: number;
    readonly message: string;
    readonly data?: { readonly [key: string]: Json };
  };
}
/** One frame that came, as text and parsed. */
export interface Received {
  readonly text: string;
  readonly message: Message;
}

/** One end of a pair, for tests: sends text as it is, keeps what comes, and waits for it. */
export interface WireEnd {
  readonly received: readonly Received[];
  send(message: string | object): void;
  /** The first frame, of those not taken yet, that fits; waits for it at most five seconds. */
  take(fits: (message: Message) => boolean, what?: string): Promise<Received>;
  readonly closed: Promise<void>;
  close(): Promise<void>;
}

/** Starts the transport. */
export function createWireEnd(transport: Transport, onMessage?: (received: Received) => void): WireEnd {
  const received: Received[] = [];
  const taken = new Set<Received>();
  const waiting = new Set<() => void>();
  let settleClosed: () => void = () => undefined;
  const closed = new Promise<void>((resolve) => {
    settleClosed = resolve;
  });
  transport.start({
    onFrame({ bytes }) {
      const text = Buffer.from(bytes).toString();
      const one = { text, message: readMessage(text) };
      received.push(one);
      onMessage?.(one);
      for (const look of [...waiting]) look();
    },
    onFault: (fault) => {
      throw fault;
    },
    onClose: () => settleClosed(),
  });
  return {
    received,
    closed,
    close: () => transport.close(),
    send(message) {
      const text = typeof message === "string" ? message : JSON.stringify(message);
      transport.send(Buffer.from(text)).catch(() => undefined); // The other end may be gone: that is what some tests are about.
    },
    take: (fits, what = "a message") =>
      new Promise((resolve, reject) => {
        const timer = setTimeout(() => {
          waiting.delete(look);
          reject(new Error(`${what} did not come; came: ${received.map(({ text }) => text.slice(0, 300)).join("\n")}`));
        }, 5_000);
        const look = (): void => {
          const one = received.find((candidate) => !taken.has(candidate) && fits(candidate.message));
          if (one === undefined) return;
          taken.add(one);
          waiting.delete(look);
          clearTimeout(timer);
          resolve(one);
        };
        waiting.add(look);
        look();
      }),
  };
}

function readMessage(text: string): Message {
  return JSON.parse(text);
}
