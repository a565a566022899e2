import type { WarmLease } from "../lease-handle.js";
import { readActivate } from "./acquire-terms.js";
import { activateRow, assertWarm } from "./activate.js";
import { openProcess } from "./asked.js";
import type { Works } from "./maker.js";
import type { Row } from "./row.js";

/** A row in `reserved` without owner whose worker runs. */
export function createWarmLease(works: Works, row: Row, assertOpen: () => void): WarmLease {
  const { environment } = row;
  if (environment === undefined) throw new Error("a warm lease without a worker");
  let isTaken = false;
  const close = async (): Promise<void> => {
    if (!isTaken && works.rows.get(row.id) === row) await works.ender.end(row, "discarded");
  };
  return {
    id: row.id,
    environment: {
      open: (argv, options) => openProcess(works, row, "reserved", argv, options),
      restriction: environment.restriction,
      workspace: environment.workspace,
      interpreter: environment.interpreter,
      ended: row.ended.promise,
    },
    async activate(options) {
      const plan = readActivate(options, works.terms.limits);
      assertOpen();
      plan.signal?.throwIfAborted();
      assertWarm(row, isTaken);
      works.rows.checkOwner(plan.owner);
      // From here on it is its owner's, or ended: never another's.
      isTaken = true;
      row.claimant = plan.owner;
      return activateRow(works, row, plan);
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}
