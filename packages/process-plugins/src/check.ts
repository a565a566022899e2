export type { CheckFinding, CheckOptions, CheckReport } from "./check/check-plugin.js";
