import { mkdtempSync, rmSync } from "node:fs";
import { connect, createServer, type Server, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished } from "vitest";
import type { EgressDecision, EgressOptions, EgressProxy } from "../../src/egress/egress.js";
import { startEgressProxy } from "../../src/egress/proxy.js";

/** A folder that is gone after the test. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "egress-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

export interface OpenProxy {
  readonly proxy: EgressProxy;
  readonly decisions: EgressDecision[];
}

/** A proxy whose names all lead to this machine's loopback, which it takes for a public address. */
export async function openProxy(options: Partial<EgressOptions> = {}): Promise<OpenProxy> {
  const decisions: EgressDecision[] = [];
  const proxy = await startEgressProxy(
    {
      socket: join(temporaryFolder(), "egress.sock"),
      allow: [{ host: "allowed.test", ports: [port(options)] }],
      onDecision: (decision) => void decisions.push(decision),
      resolve: async () => ["127.0.0.1"],
      ...options,
    },
    (address) => address === "127.0.0.1",
  );
  onTestFinished(() => proxy.close());
  return { proxy, decisions };
}

const port = ({ allow }: Partial<EgressOptions>): number => allow?.[0]?.ports?.[0] ?? 80;

/** A server on the loopback; `port` is what the system gave it. */
export async function listenOn(server: Server): Promise<number> {
  const sockets = new Set<Socket>();
  server.on("connection", (socket: Socket) => {
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(async () => {
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  });
  return portOf(server);
}

export function portOf(server: Server): number {
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("not listening on a port");
  return address.port;
}

/** A server of bytes: what `serve` does with each connection. */
export function byteServer(serve: (socket: Socket) => void): Server {
  return createServer({ allowHalfOpen: true }, (socket) => {
    socket.on("error", () => {});
    serve(socket);
  });
}

/** A client of the proxy's socket. */
export async function dial(path: string): Promise<Socket> {
  const socket = connect({ path, allowHalfOpen: true });
  socket.on("error", () => {});
  onTestFinished(() => void socket.destroy());
  await new Promise<void>((resolve) => socket.once("connect", resolve));
  return socket;
}

/** Waits until so many clients are connected; of that a proxy gives no event. The bound is for a machine that is busy. */
export async function untilConnected(proxy: EgressProxy, count: number): Promise<void> {
  await expect.poll(() => proxy.connections, { timeout: 20_000 }).toBe(count);
}

/** Everything until the end of the connection. */
export function readAll(socket: Socket): Promise<Buffer> {
  const chunks: Buffer[] = [];
  socket.on("data", (chunk: Buffer) => void chunks.push(chunk)).resume();
  return new Promise((resolve) => {
    const done = (): void => resolve(Buffer.concat(chunks));
    socket.once("end", done).once("close", done);
  });
}

/** Reads until the text was seen; what came after it stays in the socket. */
export function readUntil(socket: Socket, text: string): Promise<string> {
  let seen = Buffer.alloc(0);
  return new Promise((resolve, reject) => {
    const onEnd = (): void => reject(new Error(`ended after ${JSON.stringify(seen.toString("latin1"))}`));
    const onData = (chunk: Buffer): void => {
      seen = Buffer.concat([seen, chunk]);
      const at = seen.indexOf(text);
      if (at < 0) return;
      socket.pause();
      socket.off("data", onData).off("end", onEnd).off("close", onEnd);
      const rest = seen.subarray(at + text.length);
      if (rest.length > 0) socket.unshift(rest);
      resolve(seen.subarray(0, at + text.length).toString("latin1"));
    };
    socket.on("data", onData).on("end", onEnd).on("close", onEnd).resume();
  });
}

/** Sends bytes, half-closes, and reads everything that is answered. */
export async function exchange(path: string, bytes: string | Uint8Array): Promise<string> {
  const socket = await dial(path);
  socket.end(bytes);
  return (await readAll(socket)).toString("latin1");
}

/** A SOCKS5 greeting and a request to connect to a name. */
export function socksConnect(host: string | Uint8Array, to: number, command = 1): Buffer {
  const name = Buffer.from(host);
  const tail = Buffer.from([to >> 8, to & 0xff]);
  return Buffer.concat([Buffer.from([5, 1, 0, 5, command, 0, 3, name.length]), name, tail]);
}

/** A promise, and what resolves it. */
export function latch<T>(): { readonly promise: Promise<T>; readonly resolve: (value: T) => void } {
  let open: (value: T) => void = () => {};
  const promise = new Promise<T>((resolve) => {
    open = resolve;
  });
  return { promise, resolve: open };
}
