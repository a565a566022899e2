import type { EgressDecision } from "./egress.js";

/** A decision, and how often the like of it was made so far. */
export interface CountedDecision extends EgressDecision {
  readonly count: number;
}

/** What a host writes down of the decisions of one sandbox. */
export interface DecisionTally {
  /**
   * What to write down of this decision: the first of its kind (host, port, outcome, reason), and then the second, fourth, eighth
   * and so on, with the count. Undefined for those between. Kinds beyond 64 of one reason are one kind without host and port.
   */
  add(decision: EgressDecision): CountedDecision | undefined;
  /** The kinds whose count is higher than what was written down, at the end of the sandbox or of a period. */
  rest(): readonly CountedDecision[];
}

interface Kind {
  latest: EgressDecision;
  count: number;
  told: number;
}

const maxKindsOfReason = 64;

/**
 * Bounds what a sandbox can make its host write down: n requests are at most 520 kinds of log2(n) + 1 entries each. Holds the kinds
 * in memory, and nothing else; without clock or timer.
 */
export function createDecisionTally(): DecisionTally {
  const reasons = new Map<EgressDecision["reason"], Map<string, Kind>>();
  const tell = (kind: Kind): CountedDecision => {
    kind.told = kind.count;
    return { ...kind.latest, count: kind.count };
  };
  return {
    add(decision) {
      const kind = kindOf(decision, reasons);
      kind.count += 1;
      return kind.told === 0 || kind.count >= 2 * kind.told ? tell(kind) : undefined;
    },
    rest: () => [...reasons.values()].flatMap((kinds) => [...kinds.values()].filter(isUntold).map(tell)),
  };
}

function isUntold({ count, told }: Kind): boolean {
  return count > told;
}

function kindOf(decision: EgressDecision, reasons: Map<EgressDecision["reason"], Map<string, Kind>>): Kind {
  const kinds = reasons.get(decision.reason) ?? new Map<string, Kind>();
  reasons.set(decision.reason, kinds);
  const key = `${decision.port} ${decision.host}`;
  const isOne = kinds.has(key) || kinds.size < maxKindsOfReason;
  const latest = isOne ? decision : { ...decision, host: "", port: 0, address: undefined };
  const kind = kinds.get(isOne ? key : others) ?? { latest, count: 0, told: 0 };
  kinds.set(isOne ? key : others, kind);
  kind.latest = latest;
  return kind;
}

/** No decision has this key: a port comes first there. */
const others = "others";
