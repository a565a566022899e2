import { wireErrors } from "@berth/jsonrpc-framing";
import { type ListKind, listKinds } from "../list-kinds.js";
import type { CallIntent } from "../relay-event.js";
import type { RelayTerms, ServerTerms } from "../relay-terms.js";
import type { LiveChild } from "../upstream/child.js";
import type { JudgedEntry, JudgedList } from "../upstream/judge-list.js";
import { blocked, notServed, RelayFault } from "../wire-errors.js";

/** How a call was let through. */
export interface Admission {
  readonly definition: CallIntent["definition"];
  /** Under `observe`: why it would not have been. */
  readonly wouldRefuse?: string | undefined;
}

/** What decides, beside the server's own terms. */
export type AdmissionTerms = Pick<RelayTerms, "observe" | "showUnpinned">;

/** Kinds whose definitions are named in calls. */
export type DefinedKind = Exclude<ListKind, "resources">;

/** For methods that have no definition. */
export const undefinedAdmission: Admission = { definition: "none" };

/** Whether the catalog lets a tool exist. It is the operator's word, so `observe` does not overrule it. */
export function isListed({ tools }: ServerTerms, kind: ListKind, name: string): boolean {
  if (kind !== "tools") return true;
  return !(tools.deny?.includes(name) ?? false) && (tools.allow?.includes(name) ?? true);
}

/** Whether an element may be shown to the client. */
export function isVisible(entry: JudgedEntry, server: ServerTerms, kind: ListKind, terms: AdmissionTerms): boolean {
  if (!isListed(server, kind, entry.name)) return false;
  if (terms.observe || entry.verdict === "pinned") return true;
  return entry.verdict === "unpinned" && (terms.showUnpinned || listKinds[kind].pinning === undefined);
}

/**
 * Whether a call of this name may go to this child. Answers at once when the list is known and fresh, so that the call leaves in its turn.
 * @throws {RelayFault} -31101 with its reason, -32602 for a name that the server never had, -31102 `LIST_FAILED`.
 */
export function admit(
  kind: DefinedKind,
  name: string,
  child: LiveChild,
  server: ServerTerms,
  terms: AdmissionTerms,
): Admission | Promise<Admission> {
  const pins = listKinds[kind].pinning?.pinned(server.tools);
  if (pins === undefined) {
    if (terms.showUnpinned) return { definition: "unpinned" };
    return refuseOrObserve(blocked(server.name, notPinnedReason(kind), name), terms, "unpinned");
  }
  const judge = (list: JudgedList): Admission => judgeCall(kind, name, list, Object.hasOwn(pins, name), server, terms);
  const list = child.listings[kind].fresh;
  if (list !== undefined) return judge(list);
  return child.listings[kind].ensure().then(judge, (error: unknown) => {
    if (!(error instanceof RelayFault)) throw error;
    return refuseOrObserve(error, terms, "none");
  });
}

function judgeCall(
  kind: DefinedKind,
  name: string,
  list: JudgedList,
  isPinned: boolean,
  server: ServerTerms,
  terms: AdmissionTerms,
): Admission {
  const entry = list.byName.get(name);
  if (entry?.verdict === "pinned") return { definition: "pinned" };
  const rules = listKinds[kind].pinning;
  if (rules === undefined || (entry === undefined && !isPinned)) return unknownName(kind, name, terms);
  const reason = entry === undefined ? rules.withdrawn : isPinned ? rules.changed : rules.notPinned;
  return refuseOrObserve(blocked(server.name, reason, name, digestsOf(entry)), terms, "unpinned");
}

/** A name that was neither pinned nor is offered: under `observe` the server says so itself. */
function unknownName(kind: DefinedKind, name: string, terms: AdmissionTerms): Admission {
  const reason = kind === "prompts" ? "UNKNOWN_PROMPT" : "UNKNOWN_TOOL";
  const problem = `Unknown ${kind === "prompts" ? "prompt" : "tool"}: ${name}`;
  return refuseOrObserve(notServed(wireErrors.invalidParams, reason, problem), terms, "none");
}

function refuseOrObserve(fault: RelayFault, terms: AdmissionTerms, definition: Admission["definition"]): Admission {
  if (!terms.observe) throw fault;
  return { definition, wouldRefuse: fault.parts.reason };
}

function notPinnedReason(kind: DefinedKind) {
  return listKinds[kind].pinning?.notPinned ?? "TOOL_NOT_PINNED";
}

function digestsOf(entry: JudgedEntry | undefined) {
  return { expected: entry?.expected, measured: entry?.measured };
}
