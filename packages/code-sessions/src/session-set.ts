import { randomBytes as systemRandomBytes } from "node:crypto";
import { toSessionFault } from "./acquire-fault.js";
import { createEndedSessions } from "./ended-sessions.js";
import { SessionError } from "./errors.js";
import { createOnceCalls } from "./once-calls.js";
import type { Session } from "./session.js";
import { createSessionNames, type NameClaim } from "./session-names.js";
import type { SessionParts, StartedWorker } from "./session-parts.js";
import type { SessionEvent, Sessions, SessionsOptions, StartOptions } from "./sessions.js";
import { readSetOptions } from "./set-options.js";
import { within } from "./within.js";
import { createWorkerPool, type TakenWorker, type TakeOptions } from "./worker-pool.js";

const idPattern = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;

/** `createSessions` over given parts: one machine over names, pool and calls, hence its length. */
export function createSessionSet<W extends StartedWorker>(options: SessionsOptions, parts: SessionParts<W>): Sessions {
  const { leases, record, randomBytes = systemRandomBytes, now = Date.now } = options;
  const set = readSetOptions(options);
  const { terms, scheduler } = set;
  const tellFault = options.onFault ?? (() => undefined);
  const names = createSessionNames(terms);
  const ended = createEndedSessions({ ...terms, now: scheduler.now });
  const pool = createWorkerPool({ leases, terms, scheduler, startWorker: parts.startWorker, onFault: tellFault });
  const closedFault = (): SessionError => new SessionError("SESSIONS_CLOSED", "the sessions are closed");
  const closing = new AbortController();

  const tell = (event: SessionEvent): void => {
    // After the fact: what a recorder throws changes nothing.
    const told = async (): Promise<void> => record?.(event);
    told().catch(tellFault);
  };
  const open = async (owner: string, name: string | undefined, asked: Omit<TakeOptions, "owner">): Promise<Session> => {
    const labels = name === undefined ? { call: "once" } : { session: name };
    const taken = await pool.take(set.profileOf(owner), { ...asked, owner, labels });
    if (closing.signal.aborted || asked.signal?.aborted === true) {
      await dismiss(taken);
      asked.signal?.throwIfAborted();
      throw closedFault();
    }
    const { signal } = closing;
    return parts.openSession({
      name,
      owner,
      ...taken,
      terms,
      record,
      onFault: tellFault,
      closing: signal,
      now,
      scheduler,
    });
  };
  const dismiss = async ({ lease, worker }: TakenWorker<W>): Promise<void> => {
    for (const end of await Promise.allSettled([lease.release("discarded"), worker.close()])) {
      if (end.status === "rejected") tellFault(end.reason);
    }
  };
  const calls = createOnceCalls({
    terms,
    onFault: tellFault,
    open: (owner, ttlMs, signal) => open(owner, undefined, { ttlMs, signal }),
  });

  const follow = (session: Session, owner: string, id: string, claim: NameClaim): void => {
    claim.fill(session);
    const lease = session.status().lease.id;
    tell({ kind: "session.started", session: id, owner, lease });
    void session.ended.then((end) => {
      claim.free();
      const state = end.reason === "stopped" ? "stopped" : "dead";
      ended.remember(owner, { ...session.status(), state, end, busy: false, queued: 0 });
      tell({ kind: "session.ended", session: id, owner, lease, end });
    });
  };
  const madeUpId = (owner: string): string => {
    for (;;) {
      const id = `session_${Buffer.from(randomBytes(6)).toString("hex")}`;
      if (!names.isTaken(owner, id)) return id;
    }
  };
  const start = async ({ owner, id: wanted, ttlMs, idleMs, signal }: StartOptions): Promise<Session> => {
    signal?.throwIfAborted();
    if (closing.signal.aborted) throw closedFault();
    set.checkOwner(owner);
    if (wanted !== undefined && !idPattern.test(wanted)) throw invalidId();
    const id = wanted ?? madeUpId(owner);
    const claim = names.claim(owner, id);
    try {
      const session = await open(owner, id, { ttlMs: ttlMs ?? set.ttlMs, idleMs: idleMs ?? set.idleMs, signal });
      follow(session, owner, id, claim);
      return session;
    } catch (fault) {
      claim.free();
      throw toSessionFault(fault, "SESSION_LIMIT_REACHED");
    }
  };
  const get = (owner: string, id: string): Session => {
    const session = names.find(owner, id);
    if (session !== undefined) return session;
    const end = ended.find(owner, id)?.end;
    if (end === undefined) throw new SessionError("SESSION_NOT_FOUND", `session '${quotable(id)}' not found`);
    if (end.reason === "stopped") throw new SessionError("SESSION_STOPPED", `session '${id}' was stopped`, { end });
    throw new SessionError("SESSION_DEAD", `session '${id}' has ended: ${end.reason} (${end.detail})`, { end });
  };
  const end = async (): Promise<void> => {
    const reason = closedFault();
    closing.abort(reason);
    const stops = names.all().map((session) => session.stop().catch(tellFault));
    const all = Promise.allSettled([...stops, calls.close(reason), pool.close()]);
    // What does not end in time is ended by the leases.
    await within(all, terms.closeMs, scheduler);
  };
  let closed: Promise<void> | undefined;
  const close = (): Promise<void> => (closed ??= end());
  for (const profile of set.expectedProfiles) pool.keep(profile);
  return {
    start,
    get,
    status: (owner, id) => names.find(owner, id)?.status() ?? ended.find(owner, id),
    list: (owner) => names.of(owner).map((session) => session.status()),
    listAll: () => names.all().map((session) => ({ ...session.status(), owner: session.owner })),
    async executeOnce(owner, call) {
      if (closing.signal.aborted) throw closedFault();
      set.checkOwner(owner);
      return calls.execute(owner, call);
    },
    counts() {
      const { running, queued } = calls.counts();
      return { sessions: names.size, ...pool.counts(), sessionless: running, sessionlessQueued: queued };
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}

function invalidId(): SessionError {
  const rule = "1 to 64 letters, digits, dots, dashes and underscores, first a letter or digit";
  return new SessionError("SESSION_ID_INVALID", `a session id has ${rule}`);
}

/** An id that nobody could have given to a session is not repeated at length. */
function quotable(id: string): string {
  return idPattern.test(id) ? id : `${id.slice(0, 64).replace(/[^ -~]/g, "?")}`;
}
