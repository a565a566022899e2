import { type Envelope, wireErrors } from "@berth/jsonrpc-framing";
import { copySpan, errorFrame } from "../translate.js";
import { createAnswers } from "./answers.js";
import { createCallsOut } from "./calls-out.js";
import type { Offers } from "./discovery.js";
import { type FrontParts, textAt } from "./front-parts.js";
import { createListening } from "./listening.js";
import { createModernCalls } from "./modern-calls.js";
import { createOwnMethods } from "./own-methods.js";
import { createQuestions } from "./questions.js";

/** A server of 2026-07-28 as a client of an older revision sees it, once its `initialize` was answered. */
export interface ModernFront {
  /** A message of the client. Rejects as `Transport.send` does. */
  fromClient(frame: Uint8Array, envelope: Envelope): Promise<void>;
  /** A message of the server. @returns What the client gets of it now; undefined: nothing. */
  fromServer(frame: Uint8Array, envelope: Envelope): Uint8Array | undefined;
  /** The client's id of the call whose answer was too large to keep; the call is over. */
  clientIdOf(id: string | number | undefined): string | number | undefined;
}

export interface ModernFrontOptions extends Pick<FrontParts, "client" | "send" | "toServer" | "toClient"> {
  readonly offers: Offers;
}

const ownId = /^berth-([1-9]\d{0,15})$/;
const notAllowed = { code: wireErrors.invalidRequest, message: "in 2026-07-28 a server sends no requests" } as const;

/** Joins the two sides; nothing was said since the handshake. */
export function createModernFront({ client, offers, send, toServer, toClient }: ModernFrontOptions): ModernFront {
  const calls = createModernCalls();
  let lastId = 0;
  let logLevel: string | undefined;
  const parts: FrontParts = {
    ...{ client, calls, send, toServer, toClient },
    meta: () => client.meta(logLevel),
    nextId: () => {
      lastId += 1;
      return `berth-${lastId}`;
    },
    fail(call, message) {
      calls.drop(call);
      toClient(errorFrame(call.idBytes, { code: wireErrors.internal, message }));
    },
  };
  const { meta, nextId } = parts;
  const listening = createListening({ offers, meta, nextId, send: toServer });
  const out = createCallsOut(parts);
  const questions = createQuestions(parts, out);
  const takeAnswer = createAnswers(parts, questions);
  const answerOwn = createOwnMethods(parts, listening, (level) => {
    logLevel = level;
  });
  const callOf = (id: string | number | undefined) => (typeof id === "string" ? calls.byUpstream(id) : undefined);
  const wasIssued = (id: string | number): id is string => {
    const number = typeof id === "string" ? ownId.exec(id)?.[1] : undefined;
    return number !== undefined && Number(number) <= lastId;
  };

  const notice = (frame: Uint8Array, envelope: Envelope): Uint8Array | undefined => {
    if (envelope.method === "notifications/subscriptions/acknowledged") listening.acknowledged(frame, envelope);
    else if (envelope.method === "notifications/cancelled")
      listening.cancelled(textAt(frame, envelope.params, "requestId") ?? "");
    else return frame;
    return undefined;
  };

  const answer = (frame: Uint8Array, envelope: Envelope): Uint8Array | undefined => {
    const id = envelope.id?.value;
    const call = callOf(id);
    if (call !== undefined) return takeAnswer(call, frame, envelope);
    // To an id that was never used, or to none: for the one behind to judge.
    if (id === undefined || !wasIssued(id)) return frame;
    listening.answered(id); // Else it was given up, and comes too late.
    return undefined;
  };

  return {
    async fromClient(frame, envelope) {
      const { kind, method, id } = envelope;
      if (kind === "request") {
        if (!answerOwn(frame, envelope)) await out.forward(frame, envelope);
      } else if (kind === "notification") {
        if (method === "notifications/cancelled") out.cancel(frame, envelope);
        else if (method === "notifications/initialized") listening.open();
        // Others have no counterpart in 2026-07-28.
      } else if (typeof id?.value === "string") questions.replied(id.value, frame, envelope);
    },
    fromServer(frame, envelope) {
      if (envelope.kind === "notification") return notice(frame, envelope);
      if (envelope.kind !== "request") return answer(frame, envelope);
      // Its ids would meet the relay's own at the client.
      if (envelope.id !== undefined) toServer(errorFrame(copySpan(frame, envelope.id), notAllowed));
      return undefined;
    },
    clientIdOf(id) {
      const call = callOf(id);
      if (call === undefined) return undefined;
      calls.drop(call);
      return call.id;
    },
  };
}
