import { VenvHostError } from "../../errors.js";

/** A fault of a requirements file. The line itself is not shown: a file may be any file, and may hold credentials. */
export function requirementsFault(where: string, what: string, cause?: unknown): VenvHostError {
  const message = `${where}: ${what}`;
  return new VenvHostError("REQUIREMENTS_INVALID", message, { step: "requirements", cause });
}

/** Limits of what a set of requirements may be made of. */
export const requirementsLimits = {
  maxDepth: 10,
  maxFiles: 100,
  maxFileBytes: 1_048_576,
  maxLines: 10_000,
  maxLocalBytes: 536_870_912,
} as const;
