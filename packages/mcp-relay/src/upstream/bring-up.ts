import type { OpenUpstream, UpstreamConnection } from "../connection.js";
import { definitionDigest } from "../drift.js";
import type { ServerTerms } from "../relay-terms.js";
import { notificationFrame } from "../translate.js";
import { isUpstreamRefusal, RelayFault, spawnRefused, upstreamGone } from "../wire-errors.js";
import type { Child, LiveChild } from "./child.js";
import { introduce } from "./handshake.js";

/** Who is asked and told while a child comes up. */
export interface SettlingContext {
  readonly openUpstream: OpenUpstream;
  /** The `initialize` frame for a child, made from the client's. */
  hello(id: number): Uint8Array;
  /** The child has introduced itself and is what was measured; it was not yet told that the session is open. */
  onIntroduced(child: LiveChild): void;
}

/** One start of a server. */
export interface BringUp {
  readonly terms: ServerTerms;
  readonly context: SettlingContext;
  readonly signal: AbortSignal;
  /** Takes over the connection. */
  adopt(connection: UpstreamConnection): Child;
  /** It may be called now. */
  onReady(child: LiveChild): void;
  /** It did not come up; its child, if there is one, is ended next. */
  onFailed(fault: RelayFault): void;
}

/**
 * Opens a connection and settles its child in. A start that fails, or is given up, ends the child.
 * @throws {RelayFault} why it did not come up.
 */
export async function bringUpChild({ terms, context, signal, adopt, onReady, onFailed }: BringUp): Promise<LiveChild> {
  let child: Child | undefined;
  try {
    const connection = await openConnection(context.openUpstream, terms.name, signal);
    child = adopt(connection);
    const ready = await orAbort(settleIn(child, connection, terms, context), signal);
    if (ready.peer.gone) throw upstreamGone(terms.name, "CHILD_EXITED");
    onReady(ready);
    return ready;
  } catch (error) {
    const fault = startFault(error, terms.name);
    onFailed(fault);
    child?.peer.end(fault);
    throw fault;
  }
}

/** Opens a connection. One that comes after its start was given up is closed, whenever it comes. */
async function openConnection(open: OpenUpstream, server: string, signal: AbortSignal): Promise<UpstreamConnection> {
  const opening = Promise.resolve(open(server, { signal }));
  try {
    return await orAbort(opening, signal);
  } catch (error) {
    if (signal.aborted) opening.then((late) => late.close()).catch(() => undefined); // Nobody waits for it any more.
    throw error;
  }
}

/**
 * Handshake, the second look at what runs, and the comparison with the pins: all before the first call. A child may ask the client things
 * once it knows that the session is open, so whoever waits for its introduction hears first.
 */
async function settleIn(
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
function startFault(error: unknown, server: string): RelayFault {
  if (error instanceof RelayFault) return error;
  if (isUpstreamRefusal(error)) return spawnRefused(server, error);
  return upstreamGone(server, "START_FAILED", error instanceof Error ? error.message : undefined);
}

/** The work, or the signal's reason when that comes first. */
async function orAbort<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
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
