import { ProcessPluginError } from "../errors.js";
import type { InspectOptions } from "./inspected-plugin.js";

/** `InspectOptions` with defaults filled in. */
export interface InspectTerms {
  readonly digest: string | undefined;
  readonly maxEntries: number;
  readonly maxTreeBytes: number;
  readonly measurer: InspectOptions["measurer"];
  readonly signal: AbortSignal | undefined;
}

/** @throws {ProcessPluginError} `OPTION_INVALID`. */
export function readInspectOptions(options: InspectOptions): InspectTerms {
  const { digest, maxEntries = 100_000, maxTreeBytes = 1024 ** 3, measurer, signal } = options;
  if (digest !== undefined && !/^tree-v1:[0-9a-f]{64}$/.test(digest))
    throw invalid("digest", "tree-v1: and 64 hexadecimal digits");
  count("maxEntries", maxEntries, 1_000_000);
  count("maxTreeBytes", maxTreeBytes, 1024 ** 4);
  return { digest, maxEntries, maxTreeBytes, measurer, signal };
}

function count(name: string, value: number, most: number): void {
  if (!(Number.isSafeInteger(value) && value >= 1 && value <= most))
    throw invalid(name, `a whole number from 1 to ${most}`);
}

function invalid(name: string, expected: string): ProcessPluginError {
  return new ProcessPluginError("OPTION_INVALID", `${name} is not ${expected}`);
}
