export { type AttestedChild, type AttestedSpawnOptions, attestedSpawn, type Recheck } from "./attested-spawn.js";
export { type Decision, type DecisionStage, decide, type SpawnPolicy } from "./decide.js";
export { describeLaunch, type LaunchReport, type Offer } from "./describe.js";
export type { FileDigest, Guard, InterpreterPin, Launch, SpawnDescription } from "./description.js";
export {
  AttestationError,
  type AttestationErrorCode,
  type AttestationErrorOptions,
  isAttestationError,
} from "./errors.js";
export { interpreterPin } from "./interpreter-pin.js";
export { type MeasureOptions, measureLaunch } from "./measure.js";
export type { Coverage, Interpreter, InterpreterFamily, Measurement, Target } from "./measurement.js";
export { createMeasurer, type MeasureLimits, type Measurer, type MeasurerOptions } from "./measurer.js";
export type { Origin } from "./origin.js";
export { type AskInterpreter, type AskOptions, askAsChild, type ShimQuestion } from "./shim.js";
export { createStatement, type StatementFacts, signStatement } from "./statement.js";
export type { Envelope, LaunchPredicate, Statement } from "./verify.js";
