import { wireErrors } from "@berth/jsonrpc-framing";
import type { RelayOptions } from "../relay-options.js";
import type { PinnedInitialize } from "../server-policy.js";
import { resultFrame, withId } from "../translate.js";
import type { LiveChild } from "../upstream/child.js";
import type { Introduction } from "../upstream/handshake.js";
import { notServed, RelayFault } from "../wire-errors.js";
import { type Hello, readHello } from "./hello.js";
import type { ClientCall } from "./open-calls.js";
import { pinnedResult } from "./pinned-answer.js";
import { refuseCall } from "./relay-call.js";
import type { SessionParts } from "./session-parts.js";

/** The one handshake of a session. */
export interface Handshake {
  /** What the client said; undefined before `initialize`. */
  readonly hello: Hello | undefined;
  /** The `initialize` frame for a child, as the client said it. Throws before the client did: no child is started then. */
  helloFrame(id: number): Uint8Array;
  /** Answers `initialize`. */
  answer(session: SessionParts, call: ClientCall): void;
  /** A child has introduced itself: if the client waits for that, this is its answer. */
  passOn(session: SessionParts, child: LiveChild): void;
}

/** Waits for the client's `initialize`. */
export function createHandshake(serverInfo: RelayOptions["serverInfo"]): Handshake {
  let hello: Hello | undefined;
  /** An `initialize` that the one server is to answer. */
  let waiting: ClientCall | undefined;

  const fromPins = (session: SessionParts, call: ClientCall, { revision }: Hello): void => {
    const result = pinnedResult(session.terms.servers, revision, serverInfo);
    session.calls.answer(call, resultFrame(call.idBytes, result));
  };

  /** Starts the one server; where it cannot be had, or says what was not accepted, the pinned answer is given. */
  const startFor = async (session: SessionParts, call: ClientCall, said: Hello): Promise<void> => {
    const [upstream] = session.upstreams;
    if (upstream === undefined) throw new Error("a relay has a server");
    waiting = call;
    try {
      await upstream.start();
    } catch (error) {
      if (call.done) return;
      const { pinnedInitialize, tools } = upstream.terms;
      const pinned = pinnedInitialize !== undefined || tools.pinned !== undefined;
      if (error instanceof RelayFault && pinned) fromPins(session, call, said);
      else refuseCall(session, call, error, { server: upstream.terms.name });
    }
  };

  return {
    get hello() {
      return hello;
    },
    helloFrame(id) {
      if (hello === undefined) throw new Error("no child is started before initialize");
      return hello.frame(id);
    },
    passOn(session, { server, introduction }) {
      const call = waiting;
      waiting = undefined;
      if (call === undefined || call.done || hello === undefined) return;
      const pinned = session.terms.servers.find(({ name }) => name === server)?.pinnedInitialize;
      const { frame, envelope } = introduction.answer;
      if (acceptable(introduction, pinned, session.terms.observe)) {
        session.calls.answer(call, withId(frame, envelope, call.idBytes));
      } else fromPins(session, call, hello);
    },
    answer(session, call) {
      try {
        if (hello !== undefined)
          throw notServed(wireErrors.invalidRequest, "ALREADY_INITIALIZED", "initialize was answered already");
        hello = readHello(call.frame, call.envelope);
      } catch (error) {
        return refuseCall(session, call, error, {});
      }
      if (session.terms.passThroughInitialize) void startFor(session, call, hello);
      else fromPins(session, call, hello);
    },
  };
}

/** Instructions are read by the model, so changed ones do not pass; the difference itself was recorded at the start of the child. */
function acceptable(introduction: Introduction, pinned: PinnedInitialize | undefined, observe: boolean): boolean {
  return observe || pinned === undefined || pinned.instructions === introduction.instructions;
}
