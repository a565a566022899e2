import type { Hono } from "hono";
import type { Admit } from "../admission.js";
import { toRefusal } from "./refusals.js";
import { answer, type Route, type RouteCall } from "./route.js";

export interface RouteSurroundings {
  readonly admit: Admit;
  readonly isOperator: (principal: string) => boolean;
  readonly onFault: (fault: unknown) => void;
}

/** Puts routes into an application: admission, parameters, refusals; 405 for other methods of their paths. */
export function serveRoutes(app: Hono, routes: readonly Route[], around: RouteSurroundings): void {
  // Whole texts before parameters: a session may be called `session`, and that path is the original's.
  for (const route of [...routes].sort((one, other) => rank(one) - rank(other))) {
    app.on(route.method, patternOf(route.path), (context) =>
      serve(route, context.req.raw, context.req.path, context.req.param(), around),
    );
  }
  for (const path of new Set(routes.map((route) => route.path))) {
    const allow = routes.filter((route) => route.path === path).map(({ method }) => method);
    app.all(patternOf(path), () => wrongMethod(allow.join(", ")));
  }
}

function wrongMethod(allow: string): Response {
  const body = { error: "this path has no such method", code: "METHOD_NOT_ALLOWED", cure: `it has ${allow}` };
  return answer(405, body, { allow });
}

function rank({ path }: Route): number {
  return path.split("{").length;
}

function patternOf(path: string): string {
  return path.replace(/\/\{path\}$/, "/:path{.+}").replace(/\{(\w+)\}/g, ":$1");
}

async function serve(
  route: Route,
  request: Request,
  path: string,
  params: Readonly<Record<string, string>>,
  { admit, isOperator, onFault }: RouteSurroundings,
): Promise<Response> {
  try {
    const call = { request, params, query: new URL(request.url).searchParams };
    if (route.access === "public") return await route.handle({ ...call, owner: "", isOperator: false });
    const admitted = await admit(request, path);
    if ("refused" in admitted) return admitted.refused;
    const known: RouteCall = { ...call, owner: admitted.owner, isOperator: isOperator(admitted.owner) };
    if (route.access === "operator" && !known.isOperator) return answer(403, { error: "this is for operators" });
    return await route.handle(known);
  } catch (fault) {
    const refusal = toRefusal(fault);
    if (refusal !== undefined) return answer(refusal.status, refusal.body, retry(refusal.status));
    // Who asked is gone, and what it waited for was given up.
    if (request.signal.aborted && fault === request.signal.reason) return answer(400, { error: "given up" });
    onFault(fault);
    return answer(500, { error: "internal error" });
  }
}

function retry(status: number): Record<string, string> {
  return status === 429 || status === 503 ? { "retry-after": "1" } : {};
}
