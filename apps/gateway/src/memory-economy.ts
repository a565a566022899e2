import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import type { RelayEvent } from "@berth/mcp-relay";

/** Frees what frames have left behind. */
export interface MemoryEconomy {
  /** To be told of each event of the relay. */
  passed(event: RelayEvent): void;
}

/** From this size on, a frame is large: it lies outside V8's heap, and leaves about three times its size there. */
const largeBytes = 64 * 1024;
/** So many bytes of large frames may have passed between two collections. */
const bytesBetween = 2 * 1024 * 1024;

/**
 * One process a client: what one takes, all take. Without this, V8 lets garbage grow to more than the gateway itself.
 * `optimize-for-size` keeps the heap small, for a tenth of the throughput. The garbage of large frames counts as growth of the
 * heap and calls for a collection of everything, late, but for none of the young, which takes less than a millisecond. So those are
 * asked for here, and once there are large frames the heap may seem to grow. Together a third faster on results of 1 MiB than with
 * the first flag alone (bench/gateway.bench.mjs).
 */
export function beginMemoryEconomy(): MemoryEconomy {
  setFlagsFromString("--optimize-for-size");
  let collectYoung: (() => void) | undefined;
  let bytes = 0;
  const collect = (): void => collectYoung?.();
  return {
    passed(event) {
      const size = frameBytes(event);
      if (size < largeBytes) return;
      collectYoung ??= beginCollecting();
      bytes += size;
      if (bytes < bytesBetween) return;
      bytes = 0;
      setImmediate(collect).unref(); // after the frame has been sent
    },
  };
}

function beginCollecting(): () => void {
  setFlagsFromString("--heap-growing-percent=200");
  return youngCollector();
}

function frameBytes(event: RelayEvent): number {
  if (event.type === "call.intent") return event.request.byteLength;
  return event.type === "call.outcome" ? (event.response?.byteLength ?? 0) : 0;
}

/** V8's own function, which only contexts get that are made after the flag. Does nothing where an engine has none. */
function youngCollector(): () => void {
  setFlagsFromString("--expose-gc");
  const collector: unknown = runInNewContext("typeof gc === 'function' ? gc : undefined");
  setFlagsFromString("--no-expose-gc");
  return () => {
    if (typeof collector === "function") Reflect.apply(collector, undefined, [{ type: "minor" }]);
  };
}
