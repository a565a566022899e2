import { lookup } from "node:dns/promises";
import { connect, isIP, type Socket } from "node:net";
import { orAborted } from "../waits/or-aborted.js";
import type { EgressReason } from "./egress.js";
import type { EgressTerms } from "./egress-terms.js";
import { readHostName } from "./host-name.js";
import type { Destination } from "./http-target.js";
import { EgressRefused } from "./refused.js";

/** A connection to a destination that is allowed. */
export interface Reached {
  readonly socket: Socket;
  readonly host: string;
  readonly address: string;
}

/** Decides, resolves, checks, connects. */
export type Reach = (to: Destination, signal: AbortSignal) => Promise<Reached>;

const maxTriedAddresses = 4;
const resolutionsAtOnce = 2;
/** Those that run, and those that wait for it. */
const maxResolutions = 128;

/**
 * The name is resolved once and the connection goes to an address that was checked, so that a name which answers differently the
 * second time (DNS rebinding) gains nothing. One address that is not public refuses the name: such answers are an attack or a mistake.
 * `isAllowedAddress` is `isPublicAddress`, but in tests of this package, whose servers listen on the loopback.
 */
export function createReach(terms: EgressTerms, isAllowedAddress: (address: string) => boolean): Reach {
  const resolve = limitAtOnce(terms.resolve ?? lookupAll, resolutionsAtOnce);
  return async (to, signal) => {
    const host = decide(terms, to);
    const bounded = AbortSignal.any([signal, AbortSignal.timeout(terms.bounds.connectTimeoutMs)]);
    const addresses = await resolveAll(resolve, host, bounded, signal);
    if (!addresses.every(isAllowedAddress))
      throw new EgressRefused("PRIVATE_ADDRESS", `${host} has an address that is not public`);
    return { ...(await connectFirst(addresses, to.port, terms.bounds.connectTimeoutMs, bounded, signal)), host };
  };
}

/** @throws {EgressRefused} Before anything is resolved: a name that is not allowed is told to nobody. */
function decide(terms: EgressTerms, to: Destination): string {
  const reading = readHostName(to.host);
  if ("problem" in reading) {
    if (reading.problem === "invalid") throw new EgressRefused("REQUEST_INVALID", "the host is not a host name");
    throw new EgressRefused("HOST_NOT_ALLOWED", "addresses are not allowed; use the host's name");
  }
  const reason: EgressReason | undefined = terms.rules.refuses(reading.name, to.port);
  if (reason === undefined) return reading.name;
  const what = reason === "HOST_NOT_ALLOWED" ? reading.name : `port ${to.port} of ${reading.name}`;
  throw new EgressRefused(reason, `${what} is not in the allow list`);
}

type Resolve = (host: string, signal: AbortSignal) => Promise<readonly string[]>;

async function lookupAll(host: string): Promise<readonly string[]> {
  // The closing dot keeps search domains out: what was compared is what is asked for.
  const found = await lookup(`${host}.`, { all: true, verbatim: true });
  return found.map(({ address }) => address);
}

/**
 * Looking up holds a thread of Node's small pool, which the host's files need too, and cannot be cancelled: a turn is given
 * back when the look-up has really ended.
 */
function limitAtOnce(resolve: Resolve, most: number): Resolve {
  const waiting: (() => void)[] = [];
  let running = 0;
  const goOn = (): void => {
    const next = running < most ? waiting.shift() : undefined;
    if (next === undefined) return;
    running += 1;
    next();
  };
  return async (host, signal) => {
    if (running + waiting.length >= maxResolutions)
      throw new EgressRefused("LIMIT_REACHED", "too many names wait to be resolved");
    await new Promise<void>((go) => {
      waiting.push(go);
      goOn();
    });
    try {
      signal.throwIfAborted();
      return await resolve(host, signal);
    } finally {
      running -= 1;
      goOn();
    }
  };
}

async function resolveAll(
  resolve: Resolve,
  host: string,
  bounded: AbortSignal,
  signal: AbortSignal,
): Promise<readonly string[]> {
  try {
    const addresses = await orAborted(resolve(host, bounded), bounded);
    if (addresses.length > 0 && addresses.every((address) => isIP(address) !== 0)) return addresses;
  } catch (error) {
    if (error instanceof EgressRefused) throw error;
    signal.throwIfAborted(); // else the resolver's failure or the time limit: the client is told the same of both
  }
  throw new EgressRefused("RESOLUTION_FAILED", `${host} could not be resolved`);
}

async function connectFirst(
  addresses: readonly string[],
  port: number,
  timeoutMs: number,
  bounded: AbortSignal,
  signal: AbortSignal,
): Promise<{ readonly socket: Socket; readonly address: string }> {
  const tried = addresses.slice(0, maxTriedAddresses);
  for (const address of tried) {
    // Each has its share, so that one that swallows packets does not keep the next from its turn.
    const share = AbortSignal.any([bounded, AbortSignal.timeout(Math.ceil(timeoutMs / tried.length))]);
    const socket = await tryConnect(address, port, share);
    signal.throwIfAborted();
    if (socket !== undefined) return { socket, address };
  }
  throw new EgressRefused("CONNECT_FAILED", "the host did not take the connection");
}

function tryConnect(host: string, port: number, signal: AbortSignal): Promise<Socket | undefined> {
  if (signal.aborted) return Promise.resolve(undefined);
  return new Promise((resolve) => {
    // An address literal: nothing is resolved here.
    const socket = connect({ host, port, allowHalfOpen: true, noDelay: true, autoSelectFamily: false });
    const settle = (reached: boolean): void => {
      signal.removeEventListener("abort", onFailure);
      socket.off("connect", onConnect).off("error", onFailure);
      if (!reached) socket.on("error", () => {}).destroy(); // a late error has no one to tell
      resolve(reached ? socket : undefined);
    };
    const onConnect = (): void => settle(true);
    const onFailure = (): void => settle(false);
    socket.on("connect", onConnect).on("error", onFailure);
    signal.addEventListener("abort", onFailure, { once: true });
  });
}
