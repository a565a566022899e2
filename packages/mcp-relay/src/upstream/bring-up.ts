import type { OpenUpstream, UpstreamConnection } from "../connection.js";
import { definitionDigest } from "../drift.js";
import type { ServerTerms } from "../relay-terms.js";
import { notificationFrame } from "../translate.js";
import { isUpstreamRefusal, RelayFault, spawnRefused, upstreamGone } from "../wire-errors.js";
import type { Child, LiveChild } from "./child.js";
import { introduce } from "./handshake.js";

/** Opens a connection. One that comes after its start was given up is closed, whenever it comes. */
export async function openConnection(
  open: OpenUpstream,
  server: string,
  signal: AbortSignal,
): Promise<UpstreamConnection> {
  const opening = Promise.resolve(open(server, { signal }));
  try {
    return await orAbort(opening, signal);
  } catch (error) {
    if (signal.aborted) opening.then((late) => late.close()).catch(() => undefined); // Nobody waits for it any more.
    throw error;
  }
}

/** Who is asked and told while a child comes up. */
export interface SettlingContext {
  /** The `initialize` frame for a child, made from the client's. */
  hello(id: number): Uint8Array;
  /** The child has introduced itself and is what was measured; it was not yet told that the session is open. */
  onIntroduced(child: LiveChild): void;
}

/**
 * Handshake, the second look at what runs, and the comparison with the pins: all before the first call. A child may ask the client things
 * once it knows that the session is open, so whoever waits for its introduction hears first.
 */
export async function settleIn(
  base: Child,
  connection: UpstreamConnection,
  terms: ServerTerms,
  context: SettlingContext,
): Promise<LiveChild> {
  const introduction = await introduce(base.peer, base.server, context.hello, terms.waits.startMs);
  await connection.recheck?.();
  const child = { ...base, introduction };
  compareInstructions(child, terms, introduction.instructions);
  context.onIntroduced(child);
  child.peer.send(notificationFrame("notifications/initialized"));
  if (terms.tools.pinned !== undefined && introduction.capabilities.has("tools")) {
    // A list that fails here fails the calls that need it, each with its reason, not the child.
    await child.listings.tools.ensure().catch(() => undefined);
  }
  return child;
}

/** Why a start failed, as calls will be told. */
export function startFault(error: unknown, server: string): RelayFault {
  if (error instanceof RelayFault) return error;
  if (isUpstreamRefusal(error)) return spawnRefused(server, error);
  return upstreamGone(server, "START_FAILED", error instanceof Error ? error.message : undefined);
}

/** The work, or the signal's reason when that comes first. */
export async function orAbort<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  let onAbort: () => void = () => undefined;
  const aborted = new Promise<never>((_, reject) => {
    onAbort = () => reject(signal.reason);
    if (signal.aborted) onAbort();
    else signal.addEventListener("abort", onAbort, { once: true });
  });
  try {
    return await Promise.race([work, aborted]);
  } finally {
    signal.removeEventListener("abort", onAbort);
  }
}

function compareInstructions(child: Child, { pinnedInitialize }: ServerTerms, live: string | undefined): void {
  if (pinnedInitialize === undefined || pinnedInitialize.instructions === live) return;
  const { instructions: pinned } = pinnedInitialize;
  child.reportDrift({
    kind: "instructions",
    name: "instructions",
    change: pinned === undefined ? "new" : live === undefined ? "withdrawn" : "changed",
    expected: pinned === undefined ? undefined : definitionDigest(pinned),
    measured: live === undefined ? undefined : definitionDigest(live),
  });
}
