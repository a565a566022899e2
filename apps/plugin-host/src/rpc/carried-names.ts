import { randomUUID } from "node:crypto";
import type { CarriedState } from "@berth/venv-host/executor";
import { RequestFault } from "./json-members.js";

/** Names, for clients, of what plugins noted. Each is known to the principal that got it. */
export interface CarriedNames {
  keep(principal: string, carried: CarriedState): string;
  /** @throws {RequestFault} for a name that is not known any more. */
  find(principal: string, name: string): CarriedState;
}

/** A hook before a call whose hook after it never comes leaves its notes: the oldest go. */
const maxNames = 10_000;

export function createCarriedNames(): CarriedNames {
  const kept = new Map<string, { readonly principal: string; readonly carried: CarriedState }>();
  return {
    keep(principal, carried) {
      const name = randomUUID();
      kept.set(name, { principal, carried });
      const [oldest] = kept.keys();
      if (kept.size > maxNames && oldest !== undefined) kept.delete(oldest);
      return name;
    },
    find(principal, name) {
      const found = kept.get(name);
      if (found?.principal === principal) return found.carried;
      throw new RequestFault("carried is not known here: it is of another client, or older than the last 10,000 hooks");
    },
  };
}
