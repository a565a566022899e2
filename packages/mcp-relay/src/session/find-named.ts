import { wireErrors } from "@berth/jsonrpc-framing";
import { listKinds } from "../list-kinds.js";
import { exposedName, routeName } from "../names.js";
import type { Upstream } from "../upstream/upstream.js";
import { blocked, notServed, RelayFault } from "../wire-errors.js";
import { isListed } from "./admission.js";
import type { SessionParts } from "./session-parts.js";

/** Kinds whose names are given a prefix. */
export type NamedKind = "tools" | "prompts";

/** Where an exposed name leads, by the server's own name. */
export interface Named {
  readonly upstream: Upstream;
  readonly name: string;
}

/**
 * Finds the server of an exposed name. Answers at once where the name alone says it, so that calls keep their order.
 * @throws {RelayFault} -32602 for a name that leads nowhere; -31101 `NAME_COLLISION`, `TOOL_DENIED`; with a shortened name, why the server
 * that would know it could not be asked.
 */
export function findNamed(session: SessionParts, kind: NamedKind, exposed: string): Named | Promise<Named> {
  if (session.terms.names === "prefixed") return findPrefixed(session, kind, exposed);
  const [only, ...others] = session.upstreams;
  if (only !== undefined && others.length === 0) return checked({ upstream: only, name: exposed }, kind);
  return findPlain(session, kind, exposed);
}

function findPrefixed(session: SessionParts, kind: NamedKind, exposed: string): Named | Promise<Named> {
  const { upstreams } = session;
  const route = routeName(
    exposed,
    upstreams.map(({ terms }) => terms.name),
  );
  const upstream = upstreams.find(({ terms }) => terms.name === route?.server);
  if (route === undefined || upstream === undefined) throw unknownName(kind, exposed);
  if (route.tool !== undefined) return checked({ upstream, name: route.tool }, kind);
  return findShortened(session, upstream, kind, exposed);
}

/** A name over the limit was shortened by a digest, so only the server's list can say what it was. */
async function findShortened(
  session: SessionParts,
  upstream: Upstream,
  kind: NamedKind,
  exposed: string,
): Promise<Named> {
  const server = upstream.terms.name;
  const known = (): string | undefined =>
    [...pinnedNames(upstream, kind), ...session.offers.names(server, kind)].find(
      (name) => exposedName(server, name, "prefixed") === exposed,
    );
  let name = known();
  if (name === undefined) {
    const child = await upstream.start();
    await child.listings[kind].ensure();
    name = known();
  }
  // A name of exactly the limit's length may merely look shortened.
  return checked({ upstream, name: name ?? exposed.slice(server.length + 2) }, kind);
}

async function findPlain(session: SessionParts, kind: NamedKind, name: string): Promise<Named> {
  // Every server is asked once before a name is given to one of them: which of them started first must not decide.
  await Promise.all(session.upstreams.map((upstream) => learnOffers(session, upstream, kind)));
  const [upstream, other] = session.upstreams.filter((candidate) => mayBeCalled(session, candidate, kind, name));
  if (upstream !== undefined && other !== undefined) throw blocked(upstream.terms.name, "NAME_COLLISION", name);
  // A name that was never accepted leads to the server that offers it, which then is the one to be refused with a reason.
  const offers = ({ terms }: Upstream) => isListed(terms, kind, name) && session.offers.has(terms.name, kind, name);
  const found = upstream ?? session.upstreams.find(offers);
  if (found === undefined) throw unknownName(kind, name);
  return { upstream: found, name };
}

/** Asks a server that has no pins for its list, when that was never done; one that cannot be asked offers nothing. */
async function learnOffers({ offers }: SessionParts, upstream: Upstream, kind: NamedKind): Promise<void> {
  const { terms } = upstream;
  if (listKinds[kind].pinning?.pinned(terms.tools) !== undefined || offers.seen(terms.name, kind)) return;
  try {
    const child = await upstream.start();
    if (child.introduction.capabilities.has(listKinds[kind].capability)) await child.listings[kind].ensure();
    else offers.note(terms.name, kind, []);
  } catch (error) {
    if (!(error instanceof RelayFault)) throw error;
  }
}

/**
 * Whether a server may be called by a name: it is pinned, or, without pins, its lists showed it. A name that is not pinned does not count
 * where pins exist, so that a server cannot take another's tool away by offering the same name.
 */
export function mayBeCalled(session: SessionParts, { terms }: Upstream, kind: NamedKind, name: string): boolean {
  const pins = listKinds[kind].pinning?.pinned(terms.tools);
  if (!isListed(terms, kind, name)) return false;
  if (pins !== undefined && Object.hasOwn(pins, name)) return true;
  return (pins === undefined || session.terms.observe) && session.offers.has(terms.name, kind, name);
}

function pinnedNames({ terms }: Upstream, kind: NamedKind): string[] {
  return Object.keys(listKinds[kind].pinning?.pinned(terms.tools) ?? {});
}

function checked(named: Named, kind: NamedKind): Named {
  const { terms } = named.upstream;
  if (!isListed(terms, kind, named.name)) throw blocked(terms.name, "TOOL_DENIED", named.name);
  return named;
}

function unknownName(kind: NamedKind, name: string): RelayFault {
  const [reason, what] =
    kind === "tools" ? (["UNKNOWN_TOOL", "tool"] as const) : (["UNKNOWN_PROMPT", "prompt"] as const);
  return notServed(wireErrors.invalidParams, reason, `Unknown ${what}: ${name}`);
}
