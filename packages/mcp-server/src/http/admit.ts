import { wireErrors } from "@berth/jsonrpc-framing";
import type { Admission, AdmissionRefusal, Admitter } from "./admission.js";
import type { Exchange } from "./exchange.js";
import { clientGone, HttpRefusal } from "./refusals.js";

/**
 * Asks who sent a request.
 * @throws {HttpRefusal} as the admitter says. What it throws itself is passed on.
 */
export async function admit<P>(admitter: Admitter<P>, exchange: Exchange): Promise<{ readonly principal: P }> {
  const gone = new AbortController();
  exchange.onGone(() => gone.abort(new Error("the client is gone")));
  let admission: Admission<P>;
  try {
    admission = await admitter.admit(exchange, gone.signal);
  } catch (error) {
    // No fault of anybody: it stopped because nobody waits for it.
    if (gone.signal.aborted && error === gone.signal.reason) throw clientGone();
    throw error;
  }
  if ("principal" in admission) return admission;
  throw toRefusal(admission);
}

function toRefusal({ status, challenge, retryAfterSeconds, message }: AdmissionRefusal): HttpRefusal {
  const code = status === 503 ? wireErrors.internal : wireErrors.invalidRequest;
  return new HttpRefusal(status, code, message, {
    ...(challenge === undefined ? {} : { "www-authenticate": challenge }),
    ...(retryAfterSeconds === undefined ? {} : { "retry-after": String(retryAfterSeconds) }),
  });
}
