import type { Child } from "../upstream/child.js";

/** Progress tokens of requests that became tasks, which outlive their answers; the oldest is forgotten first. */
const maxTaskTokens = 4_096;

/** One request of a server on its way. */
export interface OpenRequest {
  readonly child: Child;
  readonly serverId: string | number;
  readonly idBytes: Uint8Array;
  /** The server's own token as written. */
  readonly token: Uint8Array | undefined;
  readonly mayBecomeTask: boolean;
}

/** Requests of servers by the relay's own ids, which are their progress tokens too. */
export interface OpenRequests {
  /** Takes one in and gives it its id. */
  add(request: OpenRequest): number;
  get(id: unknown): OpenRequest | undefined;
  /** The id of a child's request that has no answer yet. */
  idOf(child: Child, serverId: string | number): number | undefined;
  /** The request that this progress token is about. */
  byToken(token: unknown): OpenRequest | undefined;
  /** It is answered or cancelled. */
  close(id: number, request: OpenRequest): void;
  /** It was answered with a task, so its progress goes on. */
  keepToken(id: number, request: OpenRequest): void;
  /** Forgets all of a child and returns the ids of those without an answer. */
  dropAll(child: Child): readonly number[];
}

/** None open yet. */
export function createOpenRequests(): OpenRequests {
  const open = new Map<number, OpenRequest>();
  const tokens = new Map<number, OpenRequest>();
  const taskTokens = new Set<number>();
  let lastId = 0;

  const close = (id: number, request: OpenRequest): void => {
    open.delete(id);
    tokens.delete(id);
    taskTokens.delete(id);
    request.child.requests.delete(request.serverId);
  };
  const forgetOldestTask = (): void => {
    for (const id of taskTokens) {
      taskTokens.delete(id);
      tokens.delete(id);
      return;
    }
  };

  return {
    close,
    add(request) {
      lastId += 1;
      open.set(lastId, request);
      if (request.token !== undefined) tokens.set(lastId, request);
      request.child.requests.set(request.serverId, lastId);
      return lastId;
    },
    get: (id) => (typeof id === "number" ? open.get(id) : undefined),
    idOf: (child, serverId) => child.requests.get(serverId),
    byToken: (token) => (typeof token === "number" ? tokens.get(token) : undefined),
    keepToken(id, request) {
      if (request.token === undefined) return;
      tokens.set(id, request);
      taskTokens.add(id);
      if (taskTokens.size > maxTaskTokens) forgetOldestTask();
    },
    dropAll(child) {
      const unanswered: number[] = [];
      for (const [id, request] of [...open, ...tokens]) {
        if (request.child.peer !== child.peer) continue;
        if (open.has(id)) unanswered.push(id);
        close(id, request);
      }
      return unanswered;
    },
  };
}
