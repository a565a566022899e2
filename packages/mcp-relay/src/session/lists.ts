import { readMember, splice, wireErrors } from "@berth/jsonrpc-framing";
import { type ListKind, listKinds } from "../list-kinds.js";
import { exposedName } from "../names.js";
import { encodeText, replacing } from "../translate.js";
import type { JudgedEntry } from "../upstream/judge-list.js";
import type { Upstream } from "../upstream/upstream.js";
import { quotedName, visibleText } from "../visible-text.js";
import { notServed, RelayFault } from "../wire-errors.js";
import { isListed, isVisible } from "./admission.js";
import { mayBeCalled } from "./find-named.js";
import { ownerOf } from "./find-resource.js";
import { type Contribution, listFrame, type Shown } from "./list-frame.js";
import type { ClientCall } from "./open-calls.js";
import { refuseCall, relayCall } from "./relay-call.js";
import type { SessionParts } from "./session-parts.js";

/**
 * A client's list request: all servers that may have such a list are asked together, and one that cannot be asked does not make the list
 * fail: it shows what was pinned of it. All pages come as one.
 */
export async function answerList(session: SessionParts, call: ClientCall, kind: ListKind): Promise<void> {
  const [only, ...others] = session.upstreams;
  if (others.length === 0 && only?.live?.introduction.capabilities.has(listKinds[kind].capability) === false) {
    // Nothing of ours to add: a server that has no such list says so in its own words.
    return relayCall(session, call, { upstream: only });
  }
  try {
    if (call.envelope.members?.has("cursor")) {
      throw notServed(wireErrors.invalidParams, "UNKNOWN_CURSOR", "no cursor was given out: lists come in one page");
    }
    const parts = await Promise.all(session.upstreams.map((upstream) => contribute(session, upstream, kind)));
    const shown = parts.map((part) => withoutConflicts(session, kind, part));
    session.calls.answer(call, listFrame(call.idBytes, listKinds[kind].member, shown));
  } catch (error) {
    refuseCall(session, call, error, {});
  }
}

async function contribute(session: SessionParts, upstream: Upstream, kind: ListKind): Promise<Contribution> {
  const { capability, method } = listKinds[kind];
  if (upstream.has(capability) === false && upstream.live === undefined) return { shown: [], complete: false };
  try {
    const child = await upstream.start();
    if (!child.introduction.capabilities.has(capability)) return { shown: [], complete: false };
    const list = await child.listings[kind].show();
    const visible = list.entries.filter((entry) => isVisible(entry, upstream.terms, kind, session.terms));
    const complete = list.complete && visible.length === list.entries.length;
    return {
      shown: visible.map((entry) => showEntry(session, upstream, kind, entry)),
      firstPage: list.firstPage,
      complete,
    };
  } catch (error) {
    if (!(error instanceof RelayFault)) throw error;
    const { reason, problem } = error.parts;
    session.notice({ code: reason, server: upstream.terms.name, message: visibleText(`${method}: ${problem}`) });
    return { shown: showPinned(session, upstream, kind), complete: false };
  }
}

function showEntry(session: SessionParts, { terms }: Upstream, kind: ListKind, entry: JudgedEntry): Shown {
  const { name, frame, span, nameSpan } = entry;
  const exposed = exposedFor(session, terms.name, kind, name);
  const element = frame.subarray(span.start, span.end);
  const at = { start: nameSpan.start - span.start, end: nameSpan.end - span.start };
  const bytes = exposed === name ? element : splice(element, [replacing(at, encodeText(JSON.stringify(exposed)))]);
  return { server: terms.name, name, exposed, bytes, entry };
}

/** Pinned definitions of a server that cannot be asked: a call under one of these names gets its reason. */
function showPinned(session: SessionParts, { terms }: Upstream, kind: ListKind): Shown[] {
  const { pinning, nameMember } = listKinds[kind];
  const pins = Object.entries(pinning?.pinned(terms.tools) ?? {}).filter(([name]) => isListed(terms, kind, name));
  return pins.map(([name, { definition }]) => {
    const exposed = exposedFor(session, terms.name, kind, name);
    const element = encodeText(definition);
    const at = readMember(element, { start: 0, end: element.length }, [nameMember]);
    const same = exposed === name || at === undefined;
    const bytes = same ? element : splice(element, [replacing(at, encodeText(JSON.stringify(exposed)))]);
    return { server: terms.name, name, exposed, bytes };
  });
}

function exposedFor({ terms }: SessionParts, server: string, kind: ListKind, name: string): string {
  return kind === "tools" || kind === "prompts" ? exposedName(server, name, terms.names) : name;
}

/**
 * Leaves out what a call could not be routed by: a plain name that several servers may be called by is refused for all of them, and a
 * resource belongs to the first server of the catalog that ever listed it in this session.
 */
function withoutConflicts(session: SessionParts, kind: ListKind, contribution: Contribution): Contribution {
  const { upstreams, terms } = session;
  if (upstreams.length === 1) return contribution;
  const keep = ({ server, name }: Shown): boolean => {
    if (kind === "resources" || kind === "resourceTemplates") {
      return ownerOf(session, kind, name)?.terms.name === server;
    }
    if (terms.names === "prefixed") return true;
    return !upstreams.some((other) => other.terms.name !== server && mayBeCalled(session, other, kind, name));
  };
  const shown = contribution.shown.filter((one) => keep(one) || noteConflict(session, kind, one));
  return { ...contribution, shown, complete: false };
}

function noteConflict(session: SessionParts, kind: ListKind, { server, name }: Shown): false {
  const message = `${kind}: ${quotedName(name)} is offered by another server too and is left out`;
  session.notice({ code: "NAME_COLLISION", server, message });
  return false;
}
