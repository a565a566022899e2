import { createSocket, type Socket as DatagramSocket } from "node:dgram";
import { once } from "node:events";
import { connect, createServer, type NetConnectOpts, type Server } from "node:net";

/** What can arrive at this process. */
export type ListenerName = "tcp" | "udp" | "abstract" | "path";

/** Listeners of this machine that no plugin may reach. Each answers with one byte. */
export interface Listeners {
  readonly tcpPort: number;
  readonly udpPort: number;
  /** How often something came, our own not counted. */
  arrived(name: ListenerName): number;
  /** Whether this process reaches it now. What came before is counted when it resolves: connections are taken in order. */
  reaches(name: ListenerName): Promise<boolean>;
  close(): Promise<void>;
}

const reachTimeoutMs = 3_000;

/** @param abstractName Without its leading NUL. */
export async function openListeners(abstractName: string, socketPath: string): Promise<Listeners> {
  const counts: Record<ListenerName, number> = { tcp: 0, udp: 0, abstract: 0, path: 0 };
  const tcp = await listen("tcp", { port: 0, host: "127.0.0.1" }, counts);
  const abstract = await listen("abstract", { path: `\0${abstractName}` }, counts);
  const path = await listen("path", { path: socketPath }, counts);
  const udp = await bindDatagrams(counts);
  const tcpPort = portOf(tcp);
  const udpPort = udp.address().port;
  const places: Readonly<Record<Exclude<ListenerName, "udp">, NetConnectOpts>> = {
    tcp: { port: tcpPort, host: "127.0.0.1" },
    abstract: { path: `\0${abstractName}` },
    path: { path: socketPath },
  };
  return {
    tcpPort,
    udpPort,
    arrived: (name) => counts[name],
    async reaches(name) {
      const reached = name === "udp" ? await sendTo(udpPort) : await connectTo(places[name]);
      if (reached) counts[name] -= 1;
      return reached;
    },
    async close() {
      await Promise.all([tcp, abstract, path].map((server) => new Promise((resolve) => server.close(resolve))));
      await new Promise<void>((resolve) => udp.close(resolve));
    },
  };
}

async function listen(
  name: ListenerName,
  where: { readonly port: number; readonly host: string } | { readonly path: string },
  counts: Record<ListenerName, number>,
): Promise<Server> {
  const server = createServer((socket) => {
    counts[name] += 1;
    socket.on("error", () => {}).end("x"); // it may be gone already; it is counted
    socket.resume();
  });
  server.listen(where);
  await once(server, "listening");
  return server;
}

async function bindDatagrams(counts: Record<ListenerName, number>): Promise<DatagramSocket> {
  const socket = createSocket("udp4", (_, from) => {
    counts.udp += 1;
    socket.send("x", from.port, from.address, () => {}); // who sent it may be gone
  });
  socket.bind(0, "127.0.0.1");
  await once(socket, "listening");
  return socket;
}

function connectTo(place: NetConnectOpts): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(place);
    socket.setTimeout(reachTimeoutMs, () => socket.destroy());
    socket.once("data", () => resolve(true)).on("error", () => {}); // told as not reached
    socket.once("close", () => resolve(false));
  });
}

function sendTo(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = createSocket("udp4");
    const settle = (reached: boolean): void => {
      clearTimeout(timer);
      socket.close();
      resolve(reached);
    };
    const timer = setTimeout(settle, reachTimeoutMs, false);
    socket.once("message", () => settle(true)).once("error", () => settle(false));
    socket.send("x", port, "127.0.0.1");
  });
}

function portOf(server: Server): number {
  const address = server.address();
  return typeof address === "object" && address !== null ? address.port : 0;
}
