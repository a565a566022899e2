import { type FieldFault, LeaseError, type LeaseErrorCode } from "../errors.js";

const maxTold = 5;

/** Throws when there are faults: all of them in `faults`, the first few in the message. */
export function refuseFaults(code: LeaseErrorCode, what: string, faults: readonly FieldFault[]): void {
  if (faults.length === 0) return;
  const told = faults.slice(0, maxTold).map(({ field, fault }) => (field === "" ? fault : `${field} ${fault}`));
  const more = faults.length > maxTold ? `; and ${faults.length - maxTold} more` : "";
  throw new LeaseError(code, `${what}: ${told.join("; ")}${more}`, { faults: Object.freeze([...faults]) });
}
