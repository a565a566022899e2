import { wireErrors } from "@berth/jsonrpc-framing";
import type { RelayOptions } from "../relay-options.js";
import { resultFrame, withId } from "../translate.js";
import type { LiveChild } from "../upstream/child.js";
import { notServed, RelayFault } from "../wire-errors.js";
import type { ClientCall } from "./call-table.js";
import { type Hello, readHello } from "./hello.js";
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
}

/** Waits for the client's `initialize`. */
export function createHandshake(serverInfo: RelayOptions["serverInfo"]): Handshake {
  let hello: Hello | undefined;

  const fromPins = (session: SessionParts, call: ClientCall, { revision }: Hello): void => {
    const result = pinnedResult(session.terms.servers, revision, serverInfo);
    session.calls.answer(call, resultFrame(call.idBytes, result));
  };

  /** The one server's own answer; where it cannot be had, or says what was not accepted, the pinned one. */
  const passThrough = async (session: SessionParts, call: ClientCall, said: Hello): Promise<void> => {
    const [upstream] = session.upstreams;
    if (upstream === undefined) throw new Error("a relay has a server");
    try {
      const child = await upstream.start();
      if (acceptable(child, upstream.terms.pinnedInitialize, session.terms.observe)) {
        const { frame, envelope } = child.introduction.answer;
        session.calls.answer(call, withId(frame, envelope, call.idBytes));
      } else fromPins(session, call, said);
    } catch (error) {
      const pinned = upstream.terms.pinnedInitialize !== undefined || upstream.terms.tools.pinned !== undefined;
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
    answer(session, call) {
      try {
        if (hello !== undefined)
          throw notServed(wireErrors.invalidRequest, "ALREADY_INITIALIZED", "initialize was answered already");
        hello = readHello(call.frame, call.envelope);
      } catch (error) {
        return refuseCall(session, call, error, {});
      }
      if (session.terms.passThroughInitialize) void passThrough(session, call, hello);
      else fromPins(session, call, hello);
    },
  };
}

/** Instructions are read by the model, so changed ones do not pass; the difference itself was recorded at the start of the child. */
function acceptable(
  { introduction }: LiveChild,
  pinned: { readonly instructions?: string | undefined } | undefined,
  observe: boolean,
): boolean {
  return observe || pinned === undefined || pinned.instructions === introduction.instructions;
}
