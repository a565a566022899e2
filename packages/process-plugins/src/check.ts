export type { CheckFinding, CheckOptions, CheckReport } from "./check/check-plugin.js";
export { checkPlugin } from "./check/run-check.js";
