import { AssertionError } from "node:assert/strict";
import type { ContractCheck } from "../../src/contracts.js";

/** The names of the checks that refuse a store. Rejects for what is not the contract's own refusal. */
export async function refusals(checks: readonly ContractCheck[]): Promise<readonly string[]> {
  const messages = await Promise.all(checks.map(refusalOf));
  return checks.filter((_, at) => messages[at] !== undefined).map(({ name }) => name);
}

/** With what a check refuses; undefined when it does not. */
export async function refusalOf({ run }: ContractCheck): Promise<string | undefined> {
  try {
    await run();
    return undefined;
  } catch (error) {
    if (error instanceof AssertionError) return error.message;
    throw error;
  }
}

/** The one check whose name has this part. */
export function named(checks: readonly ContractCheck[], part: string): ContractCheck {
  const [found] = checks.filter(({ name }) => name.includes(part));
  if (found === undefined) throw new Error(`there is no check "${part}"`);
  return found;
}
