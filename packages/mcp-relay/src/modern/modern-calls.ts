import type { Question } from "./rounds.js";

/**
 * Bytes that the calls of one server may keep for their next round: what was sent, the server's state, the client's answers. A call beyond is made,
 * and fails when the server asks back.
 */
export const maxKeptBytes = 67_108_864;

/** One request of the client that the server has not answered for good. */
export interface ModernCall {
  /** The client's id, as bytes, and as a value by which it is cancelled. */
  readonly idBytes: Uint8Array;
  readonly id: string | number;
  readonly method: string;
  /** What was sent first, for the next round; kept only of methods that may be asked back, and while there is room. */
  readonly sent: Uint8Array | undefined;
  rounds: number;
  keptBytes: number;
  /** What the server is asked under now; undefined while the client is asked. */
  upstreamId: string | undefined;
  asking: Asking | undefined;
}

/** Questions of one round that the client is asked. */
export interface Asking {
  /** As the server wrote it, quotes included. */
  readonly state: Uint8Array | undefined;
  /** Without their parameters: those are the client's by now. */
  readonly open: Map<string, Question>;
  readonly replies: Map<string, Uint8Array>;
}

/** Calls under way, by every id that somebody may answer or cancel them with. */
export interface ModernCalls {
  add(call: ModernCall): void;
  byClient(id: string | number): ModernCall | undefined;
  byUpstream(id: string): ModernCall | undefined;
  byQuestion(id: string): ModernCall | undefined;
  /** Whether there is room for so many bytes more. */
  hasRoom(byteCount: number): boolean;
  /** Counts bytes that the call keeps until it is over; false: there is no room for them. */
  keep(call: ModernCall, byteCount: number): boolean;
  /** Under another id at the server; undefined: it is not asked now. */
  move(call: ModernCall, upstreamId: string | undefined): void;
  ask(call: ModernCall, asking: Asking): void;
  /** The question is answered. */
  replied(questionId: string): void;
  drop(call: ModernCall): void;
}

/** None yet. */
export function createModernCalls(): ModernCalls {
  const clients = new Map<string | number, ModernCall>();
  const upstreams = new Map<string, ModernCall>();
  const questions = new Map<string, ModernCall>();
  let keptBytes = 0;
  const forgetQuestions = (call: ModernCall): void => {
    for (const id of call.asking?.open.keys() ?? []) questions.delete(id);
    call.asking = undefined;
  };
  const move = (call: ModernCall, upstreamId: string | undefined): void => {
    if (call.upstreamId !== undefined) upstreams.delete(call.upstreamId);
    call.upstreamId = upstreamId;
    if (upstreamId !== undefined) upstreams.set(upstreamId, call);
  };
  const hasRoom = (byteCount: number): boolean => keptBytes + byteCount <= maxKeptBytes;
  return {
    add(call) {
      keptBytes += call.keptBytes;
      clients.set(call.id, call);
      move(call, call.upstreamId);
    },
    byClient: (id) => clients.get(id),
    byUpstream: (id) => upstreams.get(id),
    byQuestion: (id) => questions.get(id),
    hasRoom,
    keep(call, byteCount) {
      if (!hasRoom(byteCount)) return false;
      keptBytes += byteCount;
      call.keptBytes += byteCount;
      return true;
    },
    move,
    ask(call, asking) {
      move(call, undefined);
      call.asking = asking;
      for (const id of asking.open.keys()) questions.set(id, call);
    },
    replied(id) {
      const call = questions.get(id);
      questions.delete(id);
      call?.asking?.open.delete(id);
      if (call?.asking?.open.size === 0) call.asking = undefined;
    },
    drop(call) {
      forgetQuestions(call);
      move(call, undefined);
      if (clients.delete(call.id)) keptBytes -= call.keptBytes;
    },
  };
}
