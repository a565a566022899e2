import type { Envelope, Span } from "@berth/jsonrpc-framing";
import type { CallsOut } from "./calls-out.js";
import type { FrontParts } from "./front-parts.js";
import { type Asking, type ModernCall, maxKeptBytes } from "./modern-calls.js";
import { questionFrame, type Round, readReply, readRound, roundLimits } from "./rounds.js";

/** A server's questions inside its answers, as requests to a client of an older revision, and the way back. */
export interface Questions {
  /** An answer that asks for input. @throws {FramingError} `TOO_MANY_ITEMS` */
  take(call: ModernCall, frame: Uint8Array, result: Span): void;
  /** An answer of the client; one to nothing is ignored. */
  replied(id: string, frame: Uint8Array, envelope: Envelope): void;
}

const noRoom = `more than ${maxKeptBytes} bytes would be kept for calls that it asks back`;

/** Nothing asked yet. */
export function createQuestions(parts: FrontParts, { retry }: CallsOut): Questions {
  const { client, calls, nextId, toClient, fail } = parts;
  const ask = (call: ModernCall, { questions, state }: Round): void => {
    if (!calls.keep(call, state?.length ?? 0)) {
      fail(call, noRoom);
      return;
    }
    const asked = questions.map((question) => ({ id: nextId(), question }));
    const open = new Map(asked.map(({ id, question: { key, method } }) => [id, { key, method }]));
    const asking: Asking = { state, open, replies: new Map() };
    if (open.size === 0) retry(call, asking);
    else calls.ask(call, asking);
    for (const { id, question } of asked) toClient(questionFrame(id, question));
  };
  return {
    take(call, frame, result) {
      call.rounds += 1;
      if (call.sent === undefined) return fail(call, noRoom);
      if (call.rounds > roundLimits.maxRounds)
        return fail(call, `it asked for input more than ${roundLimits.maxRounds} times`);
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
      if (typeof reply === "string") return fail(call, reply);
      if (!calls.keep(call, reply.length)) return fail(call, noRoom);
      asking.replies.set(question.key, reply);
      if (asking.open.size === 0) retry(call, asking);
    },
  };
}
