import type { FieldFault } from "../errors.js";
import { readMembers, shownValue } from "./members.js";
import { refuseFaults } from "./refuse.js";

const maxArguments = 256;
/** The kernel's own bound of one string, less its NUL (MAX_ARG_STRLEN). */
const maxArgumentBytes = 131_071;
const maxAllBytes = 1_048_576;

/** What a client may send to a pipeline. */
export interface PipelinePayload {
  readonly profile: string;
  readonly argv: readonly string[];
}

/**
 * Exactly `profile`, a registered one, and `argv`: 1 to 256 strings without NUL, 128 KiB each and 1 MiB together. Empty
 * arguments are fine.
 * @throws {LeaseError} `PAYLOAD_INVALID`
 */
export function readPayload(payload: unknown, isRegistered: (profile: string) => boolean): PipelinePayload {
  const faults: FieldFault[] = [];
  const given = readMembers(payload, "", ["profile", "argv"], faults);
  const profile = given?.value("profile");
  const isKnown = typeof profile === "string" && isRegistered(profile);
  if (given !== undefined && !isKnown)
    given.fault("profile", `has to be a registered profile, was ${shownValue(profile)}`);
  const argv = given?.list("argv", maxArguments, (argument, field) => readArgument(argument, field, faults)) ?? [];
  const hasList = Array.isArray(given?.value("argv"));
  if (given !== undefined && (given.has("argv") ? hasList && given.count("argv") === 0 : true)) {
    given.fault("argv", "has to be a list of at least one string");
  }
  const bytes = argv.reduce((sum, argument) => sum + Buffer.byteLength(argument), 0);
  if (bytes > maxAllBytes) given?.fault("argv", `may have ${maxAllBytes} bytes, had ${bytes}`);
  refuseFaults("PAYLOAD_INVALID", "the request cannot be run", faults);
  return { profile: typeof profile === "string" ? profile : "", argv: Object.freeze([...argv]) };
}

function readArgument(argument: unknown, field: string, faults: FieldFault[]): string | undefined {
  if (typeof argument !== "string") faults.push({ field, fault: `has to be a string, was ${shownValue(argument)}` });
  else if (argument.includes("\0")) faults.push({ field, fault: "may have no NUL" });
  else if (Buffer.byteLength(argument) > maxArgumentBytes) {
    faults.push({ field, fault: `may have ${maxArgumentBytes} bytes, had ${Buffer.byteLength(argument)}` });
  } else return argument;
  return undefined;
}
