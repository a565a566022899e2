import type { Session } from "@berth/code-sessions";

/** A session as the original's clients know it. */
export interface SessionObject {
  readonly session_id: string;
  readonly status: "active" | "stopped";
  /** UTC, with `Z`. */
  readonly created_at: string;
}

export function sessionObject(
  { id, createdAt }: { readonly id: string; readonly createdAt: number },
  status: SessionObject["status"],
): SessionObject {
  return { session_id: id, status, created_at: new Date(createdAt).toISOString() };
}

/** Stops a session and says what it was. A session whose lease is still being cleaned up is stopped all the same; the leases try again. */
export async function stopSession(session: Session, onFault: (fault: unknown) => void): Promise<SessionObject> {
  const told = sessionObject(session.status(), "stopped");
  await session.stop().catch(onFault);
  return told;
}
