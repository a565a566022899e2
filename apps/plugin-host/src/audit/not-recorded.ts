/** Thrown for what the audit log did not take, and which was therefore not done. `cause` has the log's own error. */
export class NotRecorded extends Error {
  override readonly name = "NotRecorded";
  readonly code = "AUDIT_UNAVAILABLE";
  constructor(cause: unknown) {
    super("the audit log takes no entries now", { cause });
  }
}
