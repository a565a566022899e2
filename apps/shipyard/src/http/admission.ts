import type { AdmissionRefusal, Admitter } from "@berth/mcp-server/http";
import { localPrincipal } from "./parts.js";
import { answer } from "./rest/route.js";

/** Who sent a request, or the answer that refuses it. */
export type Admitted = { readonly owner: string } | { readonly refused: Response };

/** The same principal on every route as on `/mcp`. */
export type Admit = (request: Request, path: string) => Promise<Admitted>;

export function createAdmit(admitter: Admitter<string> | undefined): Admit {
  if (admitter === undefined) return async () => ({ owner: localPrincipal });
  return async (request, path) => {
    const header = (name: string): string | undefined => request.headers.get(name) ?? undefined;
    const admission = await admitter.admit({ method: request.method, path, header }, request.signal);
    if ("principal" in admission) return { owner: admission.principal };
    return { refused: refusalOf(admission) };
  };
}

function refusalOf({ status, challenge, retryAfterSeconds, message }: AdmissionRefusal): Response {
  return answer(
    status,
    { error: message },
    {
      ...(challenge === undefined ? {} : { "www-authenticate": challenge }),
      ...(retryAfterSeconds === undefined ? {} : { "retry-after": String(retryAfterSeconds) }),
    },
  );
}
