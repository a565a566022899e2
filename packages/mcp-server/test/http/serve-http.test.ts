import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, it } from "vitest";
import {
  type Admitter,
  createHttpHandler,
  type HttpHandlerSettings,
  type ListeningOptions,
  serveHttp,
} from "../../src/http.js";
import { call, post } from "../support/http.js";
import { sampleServer } from "../support/sample.js";

const server = sampleServer();
const admitter: Admitter<string> = { admit: () => ({ principal: "ada" }) };
const send = async (url: string, { headers = {}, body = "" } = call("sum")): Promise<number> => {
  const answer = await fetch(url, { method: "POST", headers, body: String(body) });
  await answer.text();
  return answer.status;
};

it("listens on this machine alone, at a port that is free, under the path that it is given", async () => {
  await using http = await serveHttp({ server, principal: "ada", path: "/deep/er" });
  expect(http.url).toBe(`http://127.0.0.1:${http.port}/deep/er`);
  expect(await send(http.url)).toBe(200);
  expect(await send(`http://127.0.0.1:${http.port}/mcp`)).toBe(404);
});

it("does not listen where others can connect without knowing who they are, unless it is told to", async () => {
  for (const host of ["0.0.0.0", "::", "192.0.2.1", "127.0.0.1.example"]) {
    await expect(serveHttp({ server, principal: "ada", host })).rejects.toThrow(/host .* admitter/);
  }
  await using admitted = await serveHttp({ server, admitter, host: "0.0.0.0" });
  expect(await send(`http://127.0.0.1:${admitted.port}/mcp`)).toBe(200);
  await using open = await serveHttp({ server, principal: "ada", host: "0.0.0.0", allowUnauthenticated: true });
  expect(await send(`http://127.0.0.1:${open.port}/mcp`)).toBe(200);
});

it("tells the operator at the start when others can connect and no name of theirs is served", async () => {
  const told: string[] = [];
  const logger = (text: string): void => void told.push(text);
  await using plain = await serveHttp({ server, admitter, host: "0.0.0.0", logger });
  expect(told).toEqual([
    "others can connect to 0.0.0.0, but only localhost, 127.0.0.1 and [::1] are served: name the others in allowedHosts",
  ]);
  await using named = await serveHttp({ server, admitter, host: "0.0.0.0", allowedHosts: ["mcp.example.com"], logger });
  await using local = await serveHttp({ server, admitter, logger });
  expect([plain.port, named.port, local.port, told.length]).toEqual([
    expect.any(Number),
    expect.any(Number),
    expect.any(Number),
    1,
  ]);
});

it("rejects when the address cannot be had", async () => {
  await using first = await serveHttp({ server, principal: "ada" });
  await expect(serveHttp({ server, principal: "ada", port: first.port })).rejects.toMatchObject({ code: "EADDRINUSE" });
});

/** What JavaScript lets pass: a forgotten await. */
function later(name: string) {
  return Object.assign(JSON.parse("{}"), { [name]: Promise.resolve() });
}
const both = (_: string, value: unknown): unknown => (value === "both" ? admitter : value);

it.each<readonly [string, Partial<HttpHandlerSettings<string> & ListeningOptions>, RegExp]>([
  [
    "a server that is none",
    JSON.parse('{"server":{}}'),
    /server is an object; it has to be what createMcpServer returns/,
  ],
  ["a promise of a server", later("server"), /server is a promise: await it/],
  ["no server", { server: JSON.parse("{}").absent }, /server is missing/],
  ["a principal that is nobody", { principal: JSON.parse("null") }, /principal is null; it has to be somebody/],
  ["a promise of a principal", later("principal"), /principal is a promise: await it/],
  ["a principal beside an admitter", JSON.parse('{"admitter":"both"}', both), /a principal and an admitter/],
  ["an admitter that is none", JSON.parse('{"admitter":{}}'), /admitter is an object; it has to be an Admitter/],
  ["a promise of an admitter", later("admitter"), /admitter is a promise: await it/],
  [
    "a host for hosts",
    JSON.parse('{"allowedHosts":"localhost"}'),
    /allowedHosts is a text; it has to be a list of host/,
  ],
  [
    "an origin for origins",
    JSON.parse('{"allowedOrigins":"x"}'),
    /allowedOrigins is a text; it has to be a list of ori/,
  ],
  ["a number for a path", JSON.parse('{"path":5}'), /path is 5; it has to be a text/],
  ["a text for a port", JSON.parse('{"port":"3000"}'), /port is a text; it has to be a whole number from 0 to 65535/],
  ["a port that is none", { port: 65_536 }, /port is 65536; it has to be a whole number from 0 to 65535/],
  ["a list for a host", JSON.parse('{"host":["x"]}'), /host is a list; it has to be a text/],
  ["an empty host, which would be all", { host: "" }, /host is empty/],
  [
    "a text for a flag",
    JSON.parse('{"allowUnauthenticated":"no"}'),
    /allowUnauthenticated is a text; it has to be true/,
  ],
  ["a logger that is none", JSON.parse('{"logger":{}}'), /logger is an object; it has to be a function/],
  [
    "a listener that is none",
    JSON.parse('{"onUnexpectedError":true}'),
    /onUnexpectedError is true; it has to be a func/,
  ],
  ["limits that are none", JSON.parse('{"limits":5}'), /limits is 5; it has to be an object/],
  ["sessions that are none", JSON.parse('{"sessions":5}'), /sessions is 5; it has to be an object/],
  ["a promise of a store", { sessions: later("eventStore") }, /sessions.eventStore is a promise: await it/],
  ["a limit out of its range", { limits: { maxBodyBytes: 1 } }, /maxBodyBytes is 1; it has to be a whole number/],
  [
    "a limit that does not exist",
    { limits: JSON.parse('{"maxBody":1}') },
    /there is no limit "maxBody" \(did you mean "maxBodyBytes"\?\); there are/,
  ],
  ["a text for a limit", { limits: JSON.parse('{"bodyMs":"30000"}') }, /bodyMs is a text; it has to be a whole number/],
  ["a limit of connections out of its range", { listening: { idleMs: 0 } }, /idleMs is 0/],
  ["a limit of sessions out of its range", { sessions: { limits: { maxSessions: 0 } } }, /maxSessions is 0/],
  ["an option that does not exist", JSON.parse('{"allowedHost":["localhost"]}'), /there is no option "allowedHost"/],
  [
    "an option of sessions that does not exist",
    { sessions: JSON.parse('{"maxSessions":1}') },
    /no option of sessions "maxSessions"/,
  ],
  ["a path without its slash", { path: "mcp" }, /path is "mcp"/],
  ["a path with a query", { path: "/mcp?x" }, /path is/],
  ["a host with a scheme", { allowedHosts: ["https://mcp.example.com"] }, /is no host name/],
  ["an origin with a path", { allowedOrigins: ["https://app.example.com/"] }, /is no origin/],
  ["the origin null", { allowedOrigins: ["null"] }, /is no origin/],
  ["every origin", { allowedOrigins: ["*"] }, /is no origin/],
  ["two ports", { allowedOrigins: ["https://app.example.com:81:*"] }, /is no origin/],
])("%s is an error at the start", async (_name, wrong, message) => {
  await expect(serveHttp({ server, principal: "ada", ...wrong })).rejects.toThrow(message);
});

it("wants to know who the clients are", () => {
  const options = JSON.parse("{}");
  expect(() => createHttpHandler({ server, ...options })).toThrow(/principal or an admitter/);
  // Of `serveHttp`, so a handler would ignore it.
  expect(() => createHttpHandler({ server, principal: "ada", ...JSON.parse('{"port":1}') })).toThrow(
    /no option "port"/,
  );
});

it("a handler serves beside other things of an application's own server", async () => {
  await using handler = createHttpHandler({ server, principal: "ada", logger: () => undefined });
  const own = createServer((request, response) => {
    if (request.url === "/health") response.end("ok");
    else if (request.url === "/mcp?read") request.resume().on("end", () => handler.node(request, response));
    else handler.node(request, response);
  });
  await new Promise<void>((resolve) => own.listen(0, "127.0.0.1", resolve));
  const address: AddressInfo | string | null = own.address();
  const port = typeof address === "object" ? address?.port : 0;
  expect(await (await fetch(`http://127.0.0.1:${port}/health`)).text()).toBe("ok");
  expect(await send(`http://127.0.0.1:${port}/mcp`)).toBe(200);
  expect(await send(`http://127.0.0.1:${port}/mcp?read`)).toBe(500); // somebody has read the body: said at once
  own.closeAllConnections();
  own.close();
});

it("sessions of older clients are served at the same address, and counted", async () => {
  await using http = await serveHttp({ server, principal: "ada" });
  const params = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "t", version: "1" } };
  const { headers = {}, body = "" } = post({ jsonrpc: "2.0", id: 1, method: "initialize", params });
  const opened = await fetch(http.url, { method: "POST", headers, body: String(body) });
  const session = opened.headers.get("mcp-session-id") ?? "";
  expect([opened.status, session.length > 20, http.sessionCount]).toEqual([200, true, 1]);
  await opened.text();
  expect(
    await send(http.url, post({ jsonrpc: "2.0", method: "notifications/initialized" }, { "mcp-session-id": session })),
  ).toBe(202);
  expect(await send(http.url, post({ jsonrpc: "2.0", id: 2, method: "ping" }, { "mcp-session-id": session }))).toBe(
    200,
  );
  expect(await send(http.url)).toBe(200);
  const ended = await fetch(http.url, { method: "DELETE", headers: { "mcp-session-id": session } });
  expect([ended.status, http.sessionCount]).toEqual([204, 0]);
});
