import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import type { RelayEvent } from "@berth/mcp-relay";

/** Frees what frames have left behind. */
export interface MemoryEconomy {
  /** To be told of each event of the relay. */
  passed(event: RelayEvent): void;
}

/** So many bytes of frames may have passed between two collections: each leaves about three times its size behind. */
const bytesBetween = 4 * 1024 * 1024;

/**
 * One process a client: what one takes, all take. Without these two, V8 lets garbage grow to more than the gateway itself.
 * The flag keeps the heap small, for a tenth of the throughput. Frames lie outside the heap, where their garbage calls for no
 * collection of the young, only, late, for one of everything; a young collection after some megabytes frees them in a millisecond.
 */
export function beginMemoryEconomy(): MemoryEconomy {
  setFlagsFromString("--optimize-for-size");
  const collectYoung = youngCollector();
  let bytes = 0;
  let scheduled = false;
  const collect = (): void => {
    scheduled = false;
    bytes = 0;
    collectYoung?.();
  };
  return {
    passed(event) {
      bytes += frameBytes(event);
      if (bytes < bytesBetween || scheduled) return;
      scheduled = true;
      setImmediate(collect).unref(); // after the frame has been sent
    },
  };
}

function frameBytes(event: RelayEvent): number {
  if (event.type === "call.intent") return event.request.byteLength;
  return event.type === "call.outcome" ? (event.response?.byteLength ?? 0) : 0;
}

/** V8's own function, which only contexts get that are made after the flag. Undefined where an engine has none. */
function youngCollector(): (() => void) | undefined {
  setFlagsFromString("--expose-gc");
  const collector: unknown = runInNewContext("typeof gc === 'function' ? gc : undefined");
  setFlagsFromString("--no-expose-gc");
  return typeof collector === "function"
    ? () => void Reflect.apply(collector, undefined, [{ type: "minor" }])
    : undefined;
}
