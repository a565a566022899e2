import { chmod, rm } from "node:fs/promises";
import { createServer, type Socket } from "node:net";
import { ShipyardError } from "../errors.js";
import type { StateFolder } from "../state-folder.js";
import {
  type ControlAnswer,
  type ControlRequest,
  checkSocketPath,
  maxControlBytes,
  readControlRequest,
} from "./control-protocol.js";
import { lineOf } from "./line-of.js";

const maxConnections = 16;
const silenceMs = 5_000;

/** Takes orders until it is closed. Only for who holds the store's lock: a socket that is left over is then a dead server's. */
export async function openControlServer(
  state: StateFolder,
  obey: (request: ControlRequest) => Promise<ControlAnswer>,
): Promise<{ close(): Promise<void> }> {
  checkSocketPath(state);
  await rm(state.control, { force: true });
  const open = new Set<Socket>();
  const server = createServer((socket) => {
    open.add(socket);
    socket.once("close", () => open.delete(socket));
    socket.on("error", () => {}); // the asker is gone; what it asked for is done all the same
    void answer(socket, obey);
  });
  server.maxConnections = maxConnections;
  await new Promise<void>((resolve, reject) => {
    server.once("error", (cause) => {
      reject(new ShipyardError("STATE_UNUSABLE", `there can be no socket at ${state.control}`, { cause }));
    });
    // The folder is closed to others, so that nobody can come in between.
    server.listen(state.control, resolve);
  });
  await chmod(state.control, 0o600);
  return {
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve()); // removes the socket's file too
        for (const socket of open) socket.destroy();
      }),
  };
}

async function answer(socket: Socket, obey: (request: ControlRequest) => Promise<ControlAnswer>): Promise<void> {
  const line = await lineOf(socket, maxControlBytes, silenceMs);
  const request = line === undefined ? undefined : readControlRequest(line);
  const said: ControlAnswer =
    request === undefined
      ? { ok: false, code: "USAGE", message: "the request is no line of this protocol" }
      : await obey(request).catch((error: unknown) => ({ ok: false, ...faultOf(error) }));
  socket.end(`${JSON.stringify(said)}\n`);
}

function faultOf(error: unknown): { readonly code: string; readonly message: string } {
  if (!(error instanceof Error)) return { code: "UNKNOWN", message: "the server failed" };
  return { code: "code" in error ? String(error.code) : "UNKNOWN", message: error.message.slice(0, 1_000) };
}
