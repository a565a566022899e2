import { connect } from "node:net";
import { until } from "./clock.js";

/** What is known of an answer. */
export interface Head {
  readonly status: number;
  /** By lower-case name, sorted, without those that say how the connection and the body are framed, and without the date. */
  readonly headers: Readonly<Record<string, string>>;
}

/** One request on a connection of its own, so that anything can be sent, and its answer as it comes in. */
export interface RawExchange {
  head(): Promise<Head>;
  /** The whole body. */
  whole(): Promise<string>;
  /** The next event of a stream, without the blank line that ends it. */
  nextEvent(): Promise<string>;
  /** Resolves when the body has ended. */
  ended(): Promise<void>;
  readonly hasHead: boolean;
  readonly isOver: boolean;
  /** Bytes that have come in. */
  readonly received: number;
  /** What `nextEvent` and `whole` have not given out yet. */
  readonly unread: string;
  close(): void;
}

const framing = new Set(["date", "connection", "keep-alive", "content-length", "transfer-encoding"]);

export function openRaw(port: number, request: Uint8Array): RawExchange {
  const socket = connect(port, "127.0.0.1");
  let received = Buffer.alloc(0);
  let isClosed = false;
  let taken = 0;
  socket.on("data", (chunk) => {
    received = Buffer.concat([received, chunk]);
  });
  socket.on("close", () => {
    isClosed = true;
  });
  socket.on("error", () => undefined); // the connection is closed then, and its answer missing

  socket.write(request);

  const isHead = Buffer.from(request).toString("latin1", 0, 5) === "HEAD ";
  const answer = (): ReturnType<typeof readAnswer> => readAnswer(received, isClosed || isHead);
  const unread = (): string => answer()?.body.slice(taken) ?? "";
  const isOver = (): boolean => answer()?.isWhole === true;
  return {
    async head() {
      await until(() => answer() !== undefined || isClosed, "answer");
      const found = answer();
      if (found === undefined) throw new Error("the connection ended without an answer");
      return found.head;
    },
    async whole() {
      await until(isOver, "end of the answer");
      socket.destroy();
      const text = unread();
      taken += text.length;
      return text;
    },
    async nextEvent() {
      await until(() => unread().includes("\n\n") || isOver(), "event");
      const end = unread().indexOf("\n\n");
      if (end < 0) throw new Error("the stream ended without another event");
      const text = unread().slice(0, end);
      taken += end + 2;
      return text;
    },
    ended: () => until(isOver, "end of the stream"),
    get hasHead() {
      return answer() !== undefined;
    },
    get isOver() {
      return isOver();
    },
    get received() {
      return received.length;
    },
    get unread() {
      return unread();
    },
    close: () => void socket.destroy(),
  };
}

/** Reads all that has come in so far again each time: answers here are small. */
function readAnswer(received: Buffer, isAll: boolean) {
  const end = received.indexOf("\r\n\r\n");
  if (end < 0) return undefined;
  const [statusLine = "", ...fields] = received.subarray(0, end).toString("latin1").split("\r\n");
  const all = fields.map((field): [string, string] => {
    const colon = field.indexOf(":");
    return [field.slice(0, colon).toLowerCase(), field.slice(colon + 1).trim()];
  });
  const headers = Object.fromEntries(all.filter(([name]) => !framing.has(name)).sort());
  const rest = received.subarray(end + 4);
  const length = new Map(all).get("content-length");
  const isChunked = new Map(all).get("transfer-encoding") === "chunked";
  const status = Number(statusLine.split(" ")[1]);
  const body = isChunked ? readChunks(rest) : { bytes: rest, isWhole: isAll || rest.length >= Number(length ?? 0) };
  return { head: { status, headers }, body: body.bytes.toString(), isWhole: body.isWhole };
}

function readChunks(received: Buffer): { readonly bytes: Buffer; readonly isWhole: boolean } {
  const chunks: Buffer[] = [];
  for (let at = 0; ; ) {
    const lineEnd = received.indexOf("\r\n", at);
    const size = lineEnd < 0 ? -1 : Number.parseInt(received.subarray(at, lineEnd).toString(), 16);
    if (size < 0 || received.length < lineEnd + 2 + size + 2) return { bytes: Buffer.concat(chunks), isWhole: false };
    if (size === 0) return { bytes: Buffer.concat(chunks), isWhole: true };
    chunks.push(received.subarray(lineEnd + 2, lineEnd + 2 + size));
    at = lineEnd + 2 + size + 2;
  }
}
