import type { Socket } from "node:net";

/**
 * Joins two sockets until both directions have ended, in bounded memory. The end of one side ends the other's input only (half
 * close), so that an answer still comes; an error, or `idleMs` without a byte, ends both.
 */
export function joinSockets(client: Socket, upstream: Socket, idleMs: number): Promise<void> {
  return new Promise((resolve) => {
    let open = 2;
    const end = (): void => {
      client.destroy();
      upstream.destroy();
    };
    const closed = (): void => {
      open -= 1;
      if (open === 0) resolve();
    };
    for (const side of [client, upstream]) {
      side.on("error", end);
      if (side.destroyed) closed();
      else side.once("close", closed);
    }
    // A side that closed without ending in order leaves the other waiting for bytes that never come. One that ended in order
    // may leave bytes that the other has not yet taken.
    client.once("close", () => upstream.writableEnded || end());
    upstream.once("close", () => client.writableEnded || end());
    // Reads and writes of the client are the bytes of both directions.
    client.setTimeout(idleMs, end);
    if (client.destroyed || upstream.destroyed) end();
    client.pipe(upstream);
    upstream.pipe(client);
  });
}
