import type { Bench } from "../bench.js";
import type { CheckOptions } from "../check-plugin.js";
import type { Ledger } from "./ledger.js";

/** What every look of one check has. */
export interface CheckContext {
  readonly options: CheckOptions;
  readonly bench: Bench;
  readonly ledger: Ledger;
}
