import type { ManagedProvider } from "../provider.js";
import { settlesWithin } from "../waits.js";
import { faultText } from "./fault-text.js";
import type { Row } from "./row.js";
import type { LeasesTerms } from "./terms.js";

/** Destroys a row's worker and looks whether it is gone. Undefined when its absence was seen, else why it was not. */
export async function confirmAbsence(row: Row, terms: LeasesTerms): Promise<string | undefined> {
  if (row.provider === undefined) return `no provider ${row.record.provider} is configured`;
  return inTime(confirmGone(row.provider, row.record.worker, row.creating), terms);
}

/** The same for a worker without a row. */
export function confirmOrphanGone(
  provider: ManagedProvider,
  worker: string,
  terms: LeasesTerms,
): Promise<string | undefined> {
  return inTime(confirmGone(provider, worker, undefined), terms);
}

async function inTime(
  confirmed: Promise<string | undefined>,
  { limits: { destroyMs }, scheduler }: LeasesTerms,
): Promise<string | undefined> {
  const fault = confirmed.catch(faultText);
  if (await settlesWithin(fault, destroyMs, scheduler)) return fault;
  return `the provider did not answer within ${destroyMs} ms (destroyMs)`;
}

async function confirmGone(
  provider: ManagedProvider,
  worker: string,
  creating: Promise<unknown> | undefined,
): Promise<string | undefined> {
  if (creating !== undefined) {
    await provider.destroy(worker);
    // It was aborted too. A worker that comes up after its absence was seen would be nobody's.
    await creating.catch(() => undefined); // its caller was told
  }
  await provider.destroy(worker);
  const presence = await provider.exists(worker);
  return presence === "no" ? undefined : `the provider says of its existence: ${presence}`;
}
