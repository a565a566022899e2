import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

setFlagsFromString("--expose-gc");
const gc: unknown = runInNewContext("gc");

/** Frees what nothing refers to, so that a test can tell what is still held. */
export function collectGarbage(): void {
  if (typeof gc !== "function") throw new Error("this Node has no gc()");
  for (let round = 0; round < 3; round++) gc();
}

/** Bytes in use after everything was freed that can be. */
export function heldBytes(): number {
  collectGarbage();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
}
