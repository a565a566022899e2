import type { IncomingMessage, ServerResponse } from "node:http";
import { createBodyReader, isForeignPage, type NamesServed } from "@berth/command-line/http";
import { systemScheduler } from "@berth/environment-leases";
import { getRequestListener } from "@hono/node-server";
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
  /** Answers a request of Node's `http`. */
  readonly handle: (request: IncomingMessage, response: ServerResponse) => void;
  /** Answers a web-standard request. */
  readonly fetch: (request: Request) => Response | Promise<Response>;
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

  const refusalOf = createRefusal(names, admitter === undefined);
  const app = new Hono();
  app.use(async ({ req }, next) => {
    const refusal = refusalOf(req.method, (name) => req.header(name));
    return refusal === undefined ? next() : answer(403, { error: refusal });
  });
  const mcpPaths = new Set([mcpPath, ...(admitter?.documents?.keys() ?? [])]);
  for (const path of mcpPaths) app.all(path, ({ req }) => mcp.handler.fetch(req.raw));
  serveRoutes(app, routes, { admit: createAdmit(admitter), isOperator, onFault });
  app.get("*", async (context) => (await page(context.req.path)) ?? notFound());
  app.notFound(notFound);
  app.onError((fault) => {
    onFault(fault);
    return answer(500, { error: "internal error" });
  });
  const fetch: Doors["fetch"] = (request) => app.fetch(request);
  const routed = getRequestListener(fetch);
  return {
    handle(request, response) {
      const [path = ""] = (request.url ?? "").split("?", 1);
      // Past the router and its web-standard requests, a fourteenth of what a small call costs the server, and without a second pair of streams.
      const isMcp = mcpPaths.has(path) && refusalOf(request.method ?? "", headerOf(request)) === undefined;
      if (isMcp) mcp.handler.node(request, response);
      else void routed(request, response);
    },
    fetch,
    close: mcp.close,
    [Symbol.asyncDispose]: mcp.close,
  };
}

type HeaderOf = (name: string) => string | undefined;

/** Why a request may not pass, to MCP or to the rest: a page of another origin must reach nothing (DNS rebinding). */
function createRefusal(names: NamesServed, isOpen: boolean): (method: string, header: HeaderOf) => string | undefined {
  return (method, header) => {
    const [site, mode] = [header("sec-fetch-site"), header("sec-fetch-mode")];
    if (isOpen && isForeignPage({ method, site, mode })) return "pages of another origin may not use this";
    return names.refusal(header("host"), header("origin"));
  };
}

function headerOf({ headers }: IncomingMessage): HeaderOf {
  return (name) => {
    const value = headers[name];
    return Array.isArray(value) ? value.join(", ") : value;
  };
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

function notFound(): Response {
  const cure = "GET /openapi.json lists the routes; MCP is at /mcp";
  return answer(404, { error: "there is nothing at this path", code: "ROUTE_NOT_FOUND", cure });
}
