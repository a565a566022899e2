import { readString, wireErrors } from "@berth/jsonrpc-framing";
import { requestFrame, resultFrame } from "../translate.js";
import type { LiveChild } from "../upstream/child.js";
import type { Peer } from "../upstream/peer.js";
import { notServed } from "../wire-errors.js";
import type { ClientCall } from "./open-calls.js";
import { refuseCall, relayCall } from "./relay-call.js";
import type { SessionParts } from "./session-parts.js";

const waits = { silenceMs: 60_000, totalMs: 60_000 };
const levels = ["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"];

/** The log level that the client asked for: told to every child, also to those that start later. */
export interface Logging {
  /** `logging/setLevel`. */
  set(session: SessionParts, call: ClientCall): void;
  /** Tells a child that has just been started. */
  apply(child: LiveChild): void;
}

/** No level asked for yet. */
export function createLogging(): Logging {
  let level: string | undefined;
  /** Children that have not answered yet: they are told the last level then, and not each one that was asked for meanwhile. */
  const telling = new WeakSet<Peer>();

  const apply = (child: LiveChild): void => {
    const { peer, introduction } = child;
    if (level === undefined || !introduction.capabilities.has("logging") || telling.has(peer)) return;
    const told = level;
    telling.add(peer);
    // Whether the server takes it is between it and its log; there is nobody to tell.
    const settle = (): void => {
      telling.delete(peer);
      if (level !== told && !peer.gone) apply(child);
    };
    const params = JSON.stringify({ level: told });
    peer.call((id) => requestFrame(id, "logging/setLevel", params), { waits, settle });
  };

  return {
    apply,
    set(session, call) {
      const span = call.envelope.members?.get("level");
      const asked = span && readString(call.frame, span);
      if (asked === undefined || !levels.includes(asked)) {
        return refuseCall(
          session,
          call,
          notServed(wireErrors.invalidParams, "PARAMS_INVALID", `level must be one of ${levels.join(", ")}`),
          {},
        );
      }
      level = asked;
      const [only, ...others] = session.upstreams;
      if (only?.live !== undefined && others.length === 0) return void relayCall(session, call, { upstream: only });
      for (const { live } of session.upstreams) if (live !== undefined) apply(live);
      session.calls.answer(call, resultFrame(call.idBytes, "{}"));
    },
  };
}
