import { AssertionError } from "node:assert/strict";
import type { ContractCheck } from "../../src/contracts.js";

/** The names of the checks that refuse a store. Throws for what is not the contract's own refusal. */
export async function refusals(checks: readonly ContractCheck[]): Promise<readonly string[]> {
  const names: string[] = [];
  for (const { name, run } of checks) {
    try {
      await run();
    } catch (error) {
      if (!(error instanceof AssertionError)) throw error;
      names.push(name);
    }
  }
  return names;
}

/** The message with which a check refuses. */
export async function messageOf(checks: readonly ContractCheck[], part: string): Promise<string> {
  for (const { name, run } of checks) {
    if (!name.includes(part)) continue;
    try {
      await run();
    } catch (error) {
      return error instanceof Error ? error.message : String(error);
    }
  }
  return "nothing was refused";
}
