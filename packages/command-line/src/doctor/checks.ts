import { type ExitCode, exitCodes } from "../errors.js";
import { printJson, printLine } from "../output.js";

/** One thing that was looked at. */
export interface Check {
  readonly name: string;
  /** `fail`: serve would not start. `warn`: something would be refused or weaker than it could be. */
  readonly status: "ok" | "warn" | "fail";
  readonly message: string;
  /** What to do about it. */
  readonly advice?: string | undefined;
}

const marks: Readonly<Record<Check["status"], string>> = { ok: "ok  ", warn: "note", fail: "FAIL" };

/**
 * Prints what was found, and whether `serve` would start: lines for a person, or `{ok, checks}` as JSON. Gives the exit code:
 * 0 when nothing failed, else 1.
 */
export function showChecks(checks: readonly Check[], { json = false }: { json?: boolean | undefined }): ExitCode {
  const ok = checks.every(({ status }) => status !== "fail");
  if (json) printJson({ ok, checks });
  else {
    for (const { name, status, message, advice } of alikeTogether(checks)) {
      printLine(`${marks[status]}  ${name}: ${message}`);
      if (advice !== undefined && status !== "ok") printLine(`      ${advice}`);
    }
    printLine(ok ? "serve would start" : "serve would NOT start");
  }
  return ok ? exitCodes.good : exitCodes.failed;
}

/** One fault that keeps many things from being tried is one line for a person, with all their names. */
function alikeTogether(checks: readonly Check[]): readonly Check[] {
  const together = new Map<string, Check>();
  for (const check of checks) {
    const key = JSON.stringify([check.status, check.message, check.status === "ok" ? check.name : check.advice]);
    const { name } = together.get(key) ?? check;
    const isNamed = name.split(", ").includes(check.name);
    together.set(key, { ...check, name: isNamed ? name : `${name}, ${check.name}` });
  }
  return [...together.values()];
}
