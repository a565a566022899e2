import { PluginHostError } from "../errors.js";
import type { JsonObject } from "../json.js";
import type { CarriedState } from "../plugin-host.js";

/** What plugins noted during a hook. */
export interface Notes {
  readonly byPlugin: ReadonlyMap<string, JsonObject>;
  /** Over the state of the request's own context. */
  readonly shared: JsonObject;
}

/** Gives notes to a caller in a form that only this host can read, and reads them again. */
export interface CarriedStates {
  keep(requestId: string, notes: Notes): CarriedState;
  /** @throws {PluginHostError} `OPTION_INVALID` for those of another host or request. */
  read(carried: CarriedState | undefined, requestId: string): Notes;
}

const NONE: Notes = { byPlugin: new Map(), shared: {} };

/** The notes stand beside the object, not in it: a caller that logs it logs nothing of a plugin's. */
export function createCarriedStates(): CarriedStates {
  const kept = new WeakMap<CarriedState, Notes>();
  return {
    keep(requestId, notes) {
      const carried: CarriedState = Object.freeze({ requestId });
      kept.set(carried, notes);
      return carried;
    },
    read(carried, requestId) {
      if (carried === undefined) return NONE;
      const notes = kept.get(carried);
      if (notes === undefined) throw new PluginHostError("OPTION_INVALID", "carried is not of this host");
      if (carried.requestId !== requestId) {
        throw new PluginHostError("OPTION_INVALID", `carried is of request ${carried.requestId}, not ${requestId}`);
      }
      return notes;
    },
  };
}
