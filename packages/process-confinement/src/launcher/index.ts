export type { ConfinementErrorCode, ConfinementErrorDetails } from "../errors.js";
export { ConfinementError, isConfinementError } from "../errors.js";
export { confine } from "./confine.js";
export type { ConfineCommand, LaunchCommand, LaunchPolicy } from "./launch-policy.js";
