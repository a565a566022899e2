export {
  decideEra,
  type Era,
  type EraDecision,
  type EraQuestion,
  modernMetaKeys,
  type ServedRevisions,
} from "./era.js";
export { EraError, type EraErrorCode, type EraWireError, isEraError } from "./errors.js";
export {
  isLegacyRevision,
  isModernRevision,
  type LegacyRevision,
  legacyRevisions,
  type ModernRevision,
  modernRevisions,
  negotiateRevision,
  type ProtocolRevision,
} from "./revisions.js";
export { mcpErrors } from "./wire-errors.js";
