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

it("rejects when the address cannot be had", async () => {
  await using first = await serveHttp({ server, principal: "ada" });
  await expect(serveHttp({ server, principal: "ada", port: first.port })).rejects.toMatchObject({ code: "EADDRINUSE" });
});

it.each<readonly [string, Partial<HttpHandlerSettings<string> & ListeningOptions>, RegExp]>([
  ["a limit out of its range", { limits: { maxBodyBytes: 1 } }, /maxBodyBytes is 1; it has to be a whole number/],
  ["a limit that does not exist", { limits: JSON.parse('{"maxBody":1}') }, /there is no limit "maxBody"/],
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
