import { type JsonObject, wireErrors } from "@berth/jsonrpc-framing";
import { RpcError } from "../errors.js";

/** What the handlers of tasks hold of the calls that they came from, however long they run. */
export interface RunningCalls {
  /**
   * Counts the parameters of one more call. Returns what ends that; it may be called again.
   * @throws {RpcError} -32603 when there is no room.
   */
  hold(params: JsonObject): () => void;
}

export function createRunningCalls(maxBytes: number): RunningCalls {
  let total = 0;
  return {
    hold(params) {
      let bytes = Buffer.byteLength(JSON.stringify(params));
      if (total + bytes > maxBytes) {
        const text = `the parameters of tasks that run are over ${maxBytes} bytes`;
        throw new RpcError(wireErrors.internal, text, { data: { limit: maxBytes } });
      }
      total += bytes;
      return () => {
        total -= bytes;
        bytes = 0;
      };
    },
  };
}
