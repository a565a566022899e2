export {
  type AttestedChild,
  type AttestedSpawnOptions,
  attestedSpawn,
} from "./attested-spawn.js";
export { type Decision, decide, type SpawnPolicy } from "./decide.js";
export type { FileDigest, Guard, InterpreterPin, Launch, SpawnDescription } from "./description.js";
export {
  AttestationError,
  type AttestationErrorCode,
  type AttestationErrorOptions,
  isAttestationError,
} from "./errors.js";
export { type MeasureOptions, measureLaunch } from "./measure.js";
export type { Coverage, Interpreter, InterpreterFamily, Measurement, Target } from "./measurement.js";
export type { MeasureLimits, Measurer, MeasurerOptions } from "./measurer.js";
export type { AskInterpreter, ShimQuestion } from "./shim.js";
export type { Envelope, LaunchPredicate, Statement } from "./verify.js";
