import type { FieldFault } from "../errors.js";
import { argvFaults } from "../guest/command-terms.js";
import { readMembers, shownValue } from "./members.js";
import { refuseFaults } from "./refuse.js";

const maxAllBytes = 1_048_576;

/** What a client may send to a pipeline. */
export interface PipelinePayload {
  readonly profile: string;
  readonly argv: readonly string[];
}

/**
 * Exactly `profile`, a registered one, and `argv`: 1 to 256 strings without NUL, 128 KiB each and 1 MiB together, of which the
 * first names a program. Other arguments may be empty.
 * @throws {LeaseError} `PAYLOAD_INVALID`
 */
export function readPayload(payload: unknown, isRegistered: (profile: string) => boolean): PipelinePayload {
  const faults: FieldFault[] = [];
  const given = readMembers(payload, "", ["profile", "argv"], faults);
  const profile = given?.value("profile");
  const argv = given?.value("argv");
  const isKnown = typeof profile === "string" && isRegistered(profile);
  if (given !== undefined && !isKnown)
    given.fault("profile", `has to be a registered profile, was ${shownValue(profile)}`);
  if (given !== undefined) faults.push(...argvFaults(argv, maxAllBytes));
  refuseFaults("PAYLOAD_INVALID", "the request cannot be run", faults);
  return { profile: typeof profile === "string" ? profile : "", argv: Object.freeze(isTexts(argv) ? [...argv] : []) };
}

function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((entry) => typeof entry === "string");
}
