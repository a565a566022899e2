import { isLeaseError, type Leases } from "@berth/environment-leases";
import type { ControlAnswer, ControlRequest } from "./control-protocol.js";

/** Does what `leases release` and `leases sweep` ask, in the server or in its place. */
export function obeyer(leases: Pick<Leases, "release" | "sweep">): (request: ControlRequest) => Promise<ControlAnswer> {
  return async (request) => {
    try {
      if (request.op === "sweep") return { ok: true, result: { ...(await leases.sweep()) } };
      const { id, state, endReason } = await leases.release(request.id);
      return { ok: true, result: { id, state, reason: endReason } };
    } catch (error) {
      if (!isLeaseError(error)) throw error;
      return { ok: false, code: error.code, message: error.message };
    }
  };
}
