import type { Readable } from "node:stream";
import type { Scheduler } from "@berth/jsonrpc-framing";
import { within } from "./within.js";

/** How long pipes may stay open after the last process that we hold has ended: then a process that got away has them. */
const drainMs = 250;

/**
 * Resolves when all streams are closed and their listeners were told. To be called while they are open: a socket counts
 * as `closed` for a whole turn of the event loop before it says so, and what a drain still holds is given out then.
 */
export async function whenClosed(streams: readonly Readable[]): Promise<void> {
  await Promise.all(
    streams.map(
      (stream) =>
        new Promise<void>((resolve) => {
          if (stream.closed) resolve();
          else stream.once("close", () => resolve());
        }),
    ),
  );
}

/**
 * Closes the pipes of a child that is gone, once what is in them was read.
 * @param closed `whenClosed` of the same streams.
 * @param whenRead Resolves when stdout is being read: a paused receiver gets what was written before the end.
 */
export async function closePipes(
  streams: readonly Readable[],
  closed: Promise<void>,
  whenRead: () => Promise<void>,
  scheduler: Scheduler,
): Promise<void> {
  await Promise.race([closed, whenRead()]);
  if (await within([closed], drainMs, scheduler)) return;
  for (const stream of streams) stream.destroy();
  await closed;
}
