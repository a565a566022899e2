import { type ExecuteOptions, isSessionError, type Outcome, type Sessions } from "@berth/code-sessions";

/** Code on its way in, whichever door it came by. */
export interface CodeCall extends ExecuteOptions {
  readonly owner: string;
  /** Undefined: without a session. */
  readonly session: string | undefined;
  readonly door: Door;
}
export type Door = "mcp" | "rest";

/** Told how each call went. */
export interface CallObserver {
  called(door: Door, status: Outcome["status"] | "refused", seconds: number): void;
}

/** Runs code for both doors. Rejects for what was never handed over. */
export type RunCode = (call: CodeCall) => Promise<Outcome>;

export function createRunCode(sessions: Sessions, observer: CallObserver, now: () => number): RunCode {
  return async ({ owner, session, door, ...options }) => {
    const begun = now();
    let status: Outcome["status"] | "refused" = "refused";
    try {
      const outcome = await (session === undefined
        ? sessions.executeOnce(owner, options)
        : sessions.get(owner, session).execute(options));
      status = outcome.status;
      return outcome;
    } finally {
      observer.called(door, status, (now() - begun) / 1_000);
    }
  };
}

/** A session that is unknown, foreign, stopped or dead: to whoever asks by name, it is not there. */
export function isAbsent(fault: unknown): boolean {
  return isSessionError(fault) && absentCodes.includes(fault.code);
}
const absentCodes: readonly string[] = ["SESSION_NOT_FOUND", "SESSION_STOPPED", "SESSION_DEAD"];

/** An id of the original's interface: null and the empty text mean none. */
export function givenId(id: string | null | undefined): string | undefined {
  return id === null || id === "" ? undefined : id;
}

/** As the original words it, and how it ended when that is known. */
export function absentText(session: string, fault: unknown): string {
  const known = isSessionError(fault) && fault.code === "SESSION_DEAD" ? fault.end : undefined;
  const end = known === undefined ? "" : ` It ended: ${known.reason} (${known.detail}).`;
  return `Error: Session '${session.slice(0, 64)}' not found.${end}`;
}
