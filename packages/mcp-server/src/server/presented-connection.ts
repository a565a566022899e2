import { wireErrors } from "@berth/jsonrpc-framing";
import type { Era } from "../era.js";
import { RpcError } from "../errors.js";
import type { LegacyRevision } from "../revisions.js";
import type { Connection, ConnectionState } from "./connection.js";

/** What the holder of a connection sees of it. A class, since over HTTP there may be one for each request. */
export class PresentedConnection implements Connection {
  readonly #state: ConnectionState;
  readonly #forget: (closed: Connection) => void;
  constructor(state: ConnectionState, forget: (closed: Connection) => void) {
    this.#state = state;
    this.#forget = forget;
  }

  get era(): Era | undefined {
    return this.#state.era;
  }

  get revision(): LegacyRevision | undefined {
    return this.#state.revision;
  }

  get waitingForClient(): number {
    return this.#state.waitingForClient;
  }

  async ping(options?: { readonly signal?: AbortSignal | undefined }): Promise<void> {
    if (this.#state.revision === undefined) {
      throw new RpcError(wireErrors.internal, "only a client that sent initialize can be asked");
    }
    await this.#state.ask({ method: "ping", request: undefined }, options?.signal);
  }

  endInput(): void {
    this.#state.endInput();
  }

  async close(options?: { readonly farewell?: boolean | undefined }): Promise<void> {
    this.#state.close(options?.farewell === true);
    this.#forget(this);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}
