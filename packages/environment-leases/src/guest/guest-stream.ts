import type { Socket } from "node:net";
import { Duplex } from "node:stream";

/**
 * A connected stream that waits for its reader. A socket tells of its end when it comes, and nobody listens yet: it is
 * connected before the call that asked for it can return. It emits no `error`: how a process ended is told by its exit.
 */
export class GuestStream extends Duplex {
  readonly #socket: Socket;

  constructor(socket: Socket) {
    super({ allowHalfOpen: true });
    this.#socket = socket;
    socket.on("data", (chunk: Buffer) => {
      if (!this.push(chunk)) socket.pause();
    });
    socket.once("end", () => this.push(null));
    // Cut off without an end: what was written to it is lost, and nothing more comes.
    socket.once("close", () => {
      if (!socket.readableEnded && !this.destroyed) this.push(null);
      this.destroyWhenRead();
    });
  }

  override _read(): void {
    this.#socket.resume();
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: () => void): void {
    // Writing nothing to an end that is closed fails as well, and a socket whose write failed is read no more.
    if (chunk.length > 0 && this.#socket.writable) this.#socket.write(chunk, () => done());
    else done();
  }

  override _final(done: () => void): void {
    if (this.#socket.writable) this.#socket.end(() => done());
    else done();
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.#socket.destroy();
    done(error);
  }

  /** What came before the end can still be read. */
  private destroyWhenRead(): void {
    if (this.readableEnded) this.destroy();
    else this.once("end", () => this.destroy());
  }
}
