import type { Request } from "./read-line.js";

/** What the request that has its turn is told. */
export interface Turn {
  /** Aborted when its answer is not used any more. */
  readonly signal: AbortSignal;
  /** Resolves when it must not be waited for any longer. */
  readonly givenUp: Promise<void>;
}

/** Requests that wait for their turn, and the one that has it. */
export interface Turns {
  /** Whether no more should be read for now. */
  readonly full: boolean;
  push(request: Request): void;
  /** Ends the wait of a request, or tells the one that has its turn. One that is not known is none of ours any more. */
  cancel(id: unknown): void;
  /** The call that has its turn is cancelled, and not waited for any longer. */
  giveUp(): void;
  /** Resolves when nothing waits and nothing has its turn. */
  idle(): Promise<void>;
}

export interface TurnsOptions {
  /** Answers one request. Must not reject. */
  readonly run: (request: Request, turn: Turn) => Promise<void>;
  /** Nothing is full any more. */
  readonly onRoom: () => void;
}

/** Requests that may wait before nothing more is read, and their bytes. */
const maxWaiting = 256;
const maxWaitingBytes = 16 * 2 ** 20;

const overtaking: readonly string[] = ["ave/instance/health", "ave/instance/stop"];

interface Current extends Turn {
  readonly id: string | number;
  readonly cancel: () => void;
  readonly giveUp: () => void;
}

/** One request after the other: a transcript is the same each time only because of this (PROTOCOL.md § 3). */
export function createTurns(options: TurnsOptions): Turns {
  const waiting: Request[] = [];
  let waitingBytes = 0;
  let current: Current | undefined;
  let working: Promise<void> = Promise.resolve();
  let busy = false;
  const full = (): boolean => waiting.length >= maxWaiting || waitingBytes >= maxWaitingBytes;
  const remove = (at: number): Request | undefined => {
    const [request] = waiting.splice(at, 1);
    waitingBytes -= request?.bytes ?? 0;
    return request;
  };
  const work = async (): Promise<void> => {
    for (let request = remove(0); request !== undefined; request = remove(0)) {
      const turn = createCurrent(request.id);
      if (isCall(request)) current = turn;
      await options.run(request, turn);
      current = undefined;
      if (!full()) options.onRoom();
    }
    busy = false;
  };
  return {
    get full() {
      return full();
    },
    push: (request) => {
      waiting.splice(placeOf(request, waiting), 0, request);
      waitingBytes += request.bytes;
      if (busy) return;
      busy = true;
      working = work();
    },
    cancel: (id) => {
      if (current?.id === id) current?.cancel();
      const at = waiting.findIndex((request) => request.id === id && isCall(request));
      if (at !== -1) remove(at);
    },
    giveUp: () => current?.giveUp(),
    idle: () => working,
  };
}

/** MCP or a hook: what may be given up. The life of the instance is not. */
function isCall({ method }: Request): boolean {
  return !method.startsWith("ave/instance/");
}

/** Last; `health` and `stop` come before requests of MCP that wait, and before nothing else. */
function placeOf(request: Request, waiting: readonly Request[]): number {
  if (!overtaking.includes(request.method)) return waiting.length;
  return waiting.findLastIndex(({ method }) => method.startsWith("ave/")) + 1;
}

function createCurrent(id: string | number): Current {
  const controller = new AbortController();
  let release: () => void = () => undefined;
  const givenUp = new Promise<void>((resolve) => {
    release = resolve;
  });
  const cancel = (): void => controller.abort();
  const giveUp = (): void => {
    release();
    cancel();
  };
  return { id, signal: controller.signal, givenUp, cancel, giveUp };
}
