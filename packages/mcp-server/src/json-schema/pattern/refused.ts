/** Why a pattern is refused; becomes `SCHEMA_PATTERN`. */
export class PatternRefused extends Error {}
