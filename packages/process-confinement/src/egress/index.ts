export type { ConfinementErrorCode, ConfinementErrorDetails } from "../errors.js";
export { ConfinementError, isConfinementError } from "../errors.js";
export type { CountedDecision, DecisionTally } from "./decision-tally.js";
export { createDecisionTally } from "./decision-tally.js";
export type {
  EgressDecision,
  EgressLimits,
  EgressOptions,
  EgressProxy,
  EgressReason,
  EgressRule,
} from "./egress.js";
export { createEgressProxy } from "./proxy.js";
