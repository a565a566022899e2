import { connect, type Socket } from "node:net";
import { until } from "./held.js";
import type { Sent } from "./http.js";

/** A connection of bytes, for what no HTTP client would send. */
export interface RawClient {
  readonly socket: Socket;
  write(bytes: string | Uint8Array): Promise<void>;
  /** All that came so far. */
  readonly received: string;
  /** Resolves when so many answers have begun to come. */
  answers(count: number): Promise<readonly string[]>;
  /** Resolves when the server has closed the connection. */
  ended(): Promise<string>;
}

export async function dial(port: number): Promise<RawClient> {
  const socket = connect(port, "127.0.0.1");
  socket.on("error", () => undefined);
  let received = "";
  let isEnded = false;
  socket.on("data", (chunk) => {
    received += String(chunk);
  });
  socket.on("close", () => {
    isEnded = true;
  });
  await new Promise((resolve) => socket.once("connect", resolve));
  return {
    socket,
    write: (bytes) => new Promise((resolve) => void socket.write(bytes, () => resolve())),
    get received() {
      return received;
    },
    async answers(count) {
      const split = (): string[] => received.split(/(?=HTTP\/1\.1 \d)/).filter((text) => text !== "");
      await until(() => split().length >= count);
      return split();
    },
    async ended() {
      await until(() => isEnded);
      return received;
    },
  };
}

/** A POST as bytes. Further headers replace those that it would have. */
export function raw(sent: Sent, headers: Readonly<Record<string, string>> = {}): string {
  const body = String(sent.body);
  return `${rawHead(sent, { "content-length": String(Buffer.byteLength(body)), ...headers })}${body}`;
}

/** The same without its body. */
export function rawHead(sent: Sent, headers: Readonly<Record<string, string>> = {}): string {
  const all = Object.entries({ host: "localhost", ...sent.headers, ...headers });
  return `POST /mcp HTTP/1.1\r\n${all.map(([name, value]) => `${name}: ${value}\r\n`).join("")}\r\n`;
}
