/** One thing that was looked at. */
export interface Check {
  readonly name: string;
  /** `fail`: serve would not start. `warn`: something would be refused or weaker than it could be. */
  readonly status: "ok" | "warn" | "fail";
  readonly message: string;
  /** What to do about it. */
  readonly advice?: string | undefined;
}
