import type { Envelope, Span } from "@berth/jsonrpc-framing";
import type { CallsOut } from "./calls-out.js";
import type { FrontParts } from "./front-parts.js";
import type { Asking, ModernCall } from "./modern-calls.js";
import { questionFrame, type Round, readReply, readRound, roundLimits } from "./rounds.js";

/** A server's questions inside its answers, as requests to a client of an older revision, and the way back. */
export interface Questions {
  /** An answer that asks for input. */
  take(call: ModernCall, frame: Uint8Array, result: Span): void;
  /** An answer of the client; one to nothing is ignored. */
  replied(id: string, frame: Uint8Array, envelope: Envelope): void;
}

/** Nothing asked yet. */
export function createQuestions(parts: FrontParts, { retry, withdraw }: CallsOut): Questions {
  const { client, calls, nextId, toClient, fail } = parts;
  const ask = (call: ModernCall, round: Round): void => {
    const asking: Asking = { round, open: new Map(), replies: new Map() };
    for (const question of round.questions) asking.open.set(nextId(), question);
    if (asking.open.size === 0) {
      retry(call, asking);
      return;
    }
    calls.ask(call, asking);
    for (const [id, question] of asking.open) toClient(questionFrame(id, question));
  };
  return {
    take(call, frame, result) {
      call.rounds += 1;
      if (call.sent === undefined) return fail(call, `the server asked for input to ${call.method}, which has none`);
      if (call.rounds > roundLimits.maxRounds)
        return fail(call, `the server asked for input more than ${roundLimits.maxRounds} times`);
      const round = readRound(frame, result, client);
      if (typeof round === "string") fail(call, round);
      else ask(call, round);
    },
    replied(id, frame, envelope) {
      const call = calls.byQuestion(id);
      const asking = call?.asking;
      const question = asking?.open.get(id);
      if (call === undefined || asking === undefined || question === undefined) return;
      const reply = readReply(question, frame, envelope);
      calls.replied(id);
      if (typeof reply === "string") {
        withdraw(call.asking);
        return fail(call, reply);
      }
      asking.replies.set(question.key, reply);
      if (asking.open.size === 0) retry(call, asking);
    },
  };
}
