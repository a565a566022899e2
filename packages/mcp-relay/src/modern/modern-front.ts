import {
  type Envelope,
  isFramingError,
  type OversizeEnvelope,
  type Scheduler,
  wireErrors,
} from "@berth/jsonrpc-framing";
import { copySpan, encodeText, errorFrame } from "../translate.js";
import { visibleText } from "../visible-text.js";
import { upstreamGone, wireErrorOf } from "../wire-errors.js";
import { createAnswers } from "./answers.js";
import { createCallsOut, withdraw } from "./calls-out.js";
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
  /** A message of the server that was too large to keep. @returns As which it counts for the client: an answer of a call, which is then over, or one to nothing. */
  oversize(envelope: OversizeEnvelope): OversizeEnvelope;
  /** The transport is closed. */
  close(): void;
}

export interface ModernFrontOptions extends Pick<FrontParts, "client" | "send" | "toServer" | "toClient"> {
  readonly offers: Offers;
  /** Name of the server in errors. */
  readonly server: string;
  readonly scheduler: Scheduler;
}

/** Ids of the relay's own: those it has given out, and the one of the discovery. */
export const discoverId = "berth-discover";
const ownId = /^berth-([1-9]\d{0,15})$/;
const notAllowed = { code: wireErrors.invalidRequest, message: "in 2026-07-28 a server sends no requests" } as const;
/** What counts as nothing, where something too large was to no purpose. */
const toNothing: OversizeEnvelope = { kind: "notification" };

/** Joins the two sides; nothing was said since the handshake. */
export function createModernFront(options: ModernFrontOptions): ModernFront {
  const { client, offers, server, scheduler, send, toServer, toClient } = options;
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
    fail(call, why) {
      withdraw(parts, call);
      calls.drop(call);
      const fault = upstreamGone(server, "ANSWER_UNUSABLE", visibleText(why));
      toClient(errorFrame(call.idBytes, wireErrorOf(fault)));
    },
  };
  const { meta, nextId } = parts;
  const listening = createListening({ offers, scheduler, meta, nextId, send });
  const out = createCallsOut(parts);
  const questions = createQuestions(parts, out);
  const takeAnswer = createAnswers(parts, questions);
  const answerOwn = createOwnMethods(parts, listening, (level) => {
    logLevel = level;
  });
  const callOf = (id: string | number | undefined) => (typeof id === "string" ? calls.byUpstream(id) : undefined);
  const wasIssued = (id: string | number): id is string => {
    if (id === discoverId) return true;
    const number = typeof id === "string" ? ownId.exec(id)?.[1] : undefined;
    return number !== undefined && Number(number) <= lastId;
  };

  const notice = (frame: Uint8Array, envelope: Envelope): Uint8Array | undefined => {
    if (envelope.method === "notifications/subscriptions/acknowledged") listening.acknowledged(frame, envelope);
    else if (envelope.method === "notifications/cancelled")
      listening.ended(textAt(frame, envelope.params, "requestId") ?? "");
    else return frame;
    return undefined;
  };
  const answer = (frame: Uint8Array, envelope: Envelope): Uint8Array | undefined => {
    const id = envelope.id?.value;
    const call = callOf(id);
    if (call !== undefined) return takeAnswer(call, frame, envelope);
    // To an id that was never used, or to none: for the one behind to judge.
    if (id === undefined || !wasIssued(id)) return frame;
    listening.ended(id); // Else it was given up, and comes too late.
    return undefined;
  };
  const take = (frame: Uint8Array, envelope: Envelope): Uint8Array | undefined => {
    if (envelope.kind === "notification") return notice(frame, envelope);
    if (envelope.kind !== "request") return answer(frame, envelope);
    // Its ids would meet the relay's own at the client.
    if (envelope.id !== undefined) toServer(errorFrame(copySpan(frame, envelope.id), notAllowed));
    return undefined;
  };

  return {
    close: () => listening.close(),
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
      try {
        return take(frame, envelope);
      } catch (error) {
        // Objects of more members than are looked at: whoever hands frames over must not be stopped by one.
        if (!isFramingError(error)) throw error;
        const call = envelope.kind === "notification" ? undefined : callOf(envelope.id?.value);
        if (call !== undefined) parts.fail(call, error.message);
        return undefined;
      }
    },
    oversize(envelope) {
      const { kind, id } = envelope;
      if (kind === "request") {
        if (id !== undefined) toServer(errorFrame(encodeText(JSON.stringify(id)), notAllowed));
        return toNothing;
      }
      const call = callOf(id);
      if (call !== undefined) {
        calls.drop(call);
        return { kind, id: call.id };
      }
      if (kind === "notification" || id === undefined || !wasIssued(id)) return envelope;
      listening.ended(id);
      return toNothing;
    },
  };
}
