import { IncomingMessage, ServerResponse } from "node:http";
import { createBodyReader, isForeignPage } from "@berth/command-line/http";
import { systemScheduler } from "@berth/environment-leases";
import { RESPONSE_ALREADY_SENT } from "@hono/node-server/utils/response";
import { Hono } from "hono";
import { createAdmit } from "./admission.js";
import { createRunCode } from "./calls.js";
import { createMcpDoor } from "./mcp/door.js";
import { createMetrics } from "./metrics.js";
import { namesServed } from "./names-served.js";
import { openPageFiles } from "./page-files.js";
import { type DoorsParts, readDoorTerms } from "./parts.js";
import { browserRoutes } from "./rest/browser-routes.js";
import { executeRoutes } from "./rest/execute-routes.js";
import { fileRoutes } from "./rest/file-routes.js";
import { legacyRoutes } from "./rest/legacy-routes.js";
import { describeRoutes } from "./rest/openapi.js";
import { operatorRoutes } from "./rest/operator-routes.js";
import { pageRoutes } from "./rest/page-routes.js";
import type { RestParts } from "./rest/parts.js";
import { answer, type Route } from "./rest/route.js";
import { serveRoutes } from "./rest/serve-routes.js";
import { sessionRoutes } from "./rest/session-routes.js";

/** Everything that is served on one port, without the listening. */
export interface Doors extends AsyncDisposable {
  /** For `@hono/node-server`, or any server of web-standard requests. */
  readonly fetch: (request: Request, env?: object) => Response | Promise<Response>;
  /** Ends what is under way at the MCP door. The sessions are closed by who made them. */
  close(): Promise<void>;
}

const mcpPath = "/mcp";

/**
 * MCP at `/mcp`, the original's REST interface, the newer one, figures and the page.
 * @throws {TypeError} for a name in `allowedHosts` that is none. @throws {RangeError} for a limit out of its range.
 */
export function createDoors(parts: DoorsParts): Doors {
  const { sessions, leases, version, admitter, scheduler = systemScheduler, onFault = () => undefined } = parts;
  const names = namesServed(parts.allowedHosts);
  const terms = readDoorTerms(parts.limits);
  const bodies = createBodyReader(terms);
  const metrics = createMetrics();
  const { now } = scheduler;
  const runCode = createRunCode(sessions, metrics, now);
  const mcp = createMcpDoor({
    version,
    admitter,
    names,
    sessions,
    runCode,
    scheduler,
    onFault,
    heartbeatMs: terms.heartbeatMs,
    maxBodyBytes: terms.maxBodyBytes,
  });
  const isOperator = parts.isOperator ?? (() => admitter === undefined);
  const routes = allRoutes({ version, sessions, leases, runCode, metrics, terms, onFault, now, bodies }, parts.page);
  const page = openPageFiles(parts.pageFolder);

  const app = new Hono();
  // Before everything, `/mcp` included: a page of another origin must reach nothing (DNS rebinding).
  app.use(async (context, next) => {
    const { method } = context.req;
    const [site, mode] = ["sec-fetch-site", "sec-fetch-mode"].map((name) => context.req.header(name));
    if (admitter === undefined && isForeignPage({ method, site, mode }))
      return answer(403, { error: "pages of another origin may not use this" });
    const refusal = names.refusal(context.req.header("host"), context.req.header("origin"));
    return refusal === undefined ? next() : answer(403, { error: refusal });
  });
  for (const path of [mcpPath, ...(admitter?.documents?.keys() ?? [])]) {
    app.all(path, ({ req, env }) => {
      if (!isNodeExchange(env)) return mcp.handler.fetch(req.raw);
      // Streams that stay open for hours, without another pair of streams in between.
      mcp.handler.node(env.incoming, env.outgoing);
      return RESPONSE_ALREADY_SENT;
    });
  }
  serveRoutes(app, routes, { admit: createAdmit(admitter), isOperator, onFault });
  app.get("*", async (context) => (await page(context.req.path)) ?? notFound());
  app.notFound(notFound);
  app.onError((fault) => {
    onFault(fault);
    return answer(500, { error: "internal error" });
  });
  return { fetch: (request, env) => app.fetch(request, env), close: mcp.close, [Symbol.asyncDispose]: mcp.close };
}

function allRoutes(rest: RestParts, page: DoorsParts["page"]): readonly Route[] {
  let description = "";
  const routes = [
    ...operatorRoutes(rest),
    ...legacyRoutes(rest),
    ...browserRoutes(),
    ...executeRoutes(rest),
    ...sessionRoutes(rest),
    ...fileRoutes(rest),
    ...pageRoutes(page, rest.version),
    descriptionRoute(() => description),
  ];
  description = describeRoutes(routes, rest.version);
  return routes;
}

function descriptionRoute(description: () => string): Route {
  return {
    method: "GET",
    path: "/openapi.json",
    summary: "This description",
    access: "public",
    answers: { 200: { description: "OpenAPI 3.1", content: { "application/json": undefined } } },
    handle: () => new Response(description(), { headers: { "content-type": "application/json" } }),
  };
}

interface NodeExchange {
  readonly incoming: IncomingMessage;
  readonly outgoing: ServerResponse;
}

/** What `@hono/node-server` gives beside the request. */
function isNodeExchange(env: unknown): env is NodeExchange {
  if (typeof env !== "object" || env === null || !("incoming" in env && "outgoing" in env)) return false;
  return env.incoming instanceof IncomingMessage && env.outgoing instanceof ServerResponse;
}

function notFound(): Response {
  const cure = "GET /openapi.json lists the routes; MCP is at /mcp";
  return answer(404, { error: "there is nothing at this path", code: "ROUTE_NOT_FOUND", cure });
}
