import { wireErrors } from "@berth/jsonrpc-framing";
import { isObject, isSomebody } from "../option-check.js";
import type { Admission, AdmissionRefusal, Admitter } from "./admission.js";
import type { Exchange } from "./exchange.js";
import { clientGone, HttpRefusal } from "./refusals.js";

/**
 * Asks who sent a request.
 * @throws {HttpRefusal} as the admitter says. What it throws itself is passed on.
 * @throws {TypeError} when it says neither who nor why not, or both: a fault of the server.
 */
export async function admit<P>(admitter: Admitter<P>, exchange: Exchange): Promise<{ readonly principal: P }> {
  const gone = new AbortController();
  exchange.onGone(() => gone.abort(new Error("the client is gone")));
  let admission: Admission<P>;
  try {
    const { method, path } = exchange;
    // Of its own, so that an admitter may take it apart: `admit({ header })`.
    admission = await admitter.admit({ method, path, header: (name) => exchange.header(name) }, gone.signal);
  } catch (error) {
    // No fault of anybody: it stopped because nobody waits for it.
    if (gone.signal.aborted && error === gone.signal.reason) throw clientGone();
    throw error;
  }
  return readAdmission(admission);
}

/** An admitter may be anybody's, and written without types. */
function readAdmission<P>(admission: Admission<P>): { readonly principal: P } {
  const isKnown = hasPrincipal(admission);
  if (isKnown === isRefusal(admission)) {
    throw new TypeError(
      "the admitter said neither who the client is (principal) nor why not (status, message), or both",
    );
  }
  if (isKnown) return admission;
  throw toRefusal(admission);
}

function hasPrincipal<P>(admission: Admission<P>): admission is { readonly principal: P } {
  return isObject(admission) && "principal" in admission && isSomebody(admission.principal);
}

function isRefusal<P>(admission: Admission<P>): boolean {
  if (!isObject(admission) || !("status" in admission)) return false;
  return statuses.includes(admission.status) && typeof admission.message === "string";
}
const statuses: readonly number[] = [400, 401, 403, 503] satisfies readonly AdmissionRefusal["status"][];

function toRefusal({ status, challenge, retryAfterSeconds, message }: AdmissionRefusal): HttpRefusal {
  const code = status === 503 ? wireErrors.internal : wireErrors.invalidRequest;
  return new HttpRefusal(status, code, message, {
    ...(challenge === undefined ? {} : { "www-authenticate": challenge }),
    ...(retryAfterSeconds === undefined ? {} : { "retry-after": String(retryAfterSeconds) }),
  });
}
