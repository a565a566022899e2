import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createBearerAdmitter, createToken, openTokenFile } from "@berth/mcp-server/auth";
import type { Admitter } from "@berth/mcp-server/http";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openMcp } from "./support/mcp-client.js";
import { type Served, serve } from "./support/served.js";

let folder: string;
let served: Served;
let admitter: Admitter<string>;
const tokens: Record<string, string> = {};
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "berth-tokens-"));
  const lines: string[] = [];
  for (const name of ["ada", "bob", "op"]) {
    const { token, line } = createToken({ name, scopes: [], expiresAt: "never" });
    tokens[name] = token;
    lines.push(line);
  }
  const path = join(folder, "tokens.jsonl");
  await writeFile(path, `${lines.join("\n")}\n`, { mode: 0o600 });
  const verifier = await openTokenFile({ path, principal: ({ name }) => name });
  admitter = createBearerAdmitter({ verifier });
  served = await serve({ doors: { admitter, isOperator: (principal) => principal === "op" } });
});
afterAll(async () => {
  await served[Symbol.asyncDispose]();
  await rm(folder, { recursive: true });
});

const as = (name: string) => ({ authorization: `Bearer ${tokens[name] ?? "none"}` });

describe("with authentication", () => {
  const guarded = [
    ["GET", "/v1/sessions"],
    ["GET", "/v1/sessions/session"],
    ["POST", "/v1/sessions/session"],
    ["POST", "/execute"],
    ["POST", "/v1/execute"],
    ["GET", "/v1/sessions/lab"],
    ["GET", "/v1/sessions/lab/files/a"],
    ["GET", "/metrics"],
    ["GET", "/v1/leases"],
    ["POST", "/v1/browser/interactions/navigate"],
  ] as const;
  it.each(guarded)("%s %s is refused without a token, and with one that is none, alike", async (method, path) => {
    for (const headers of [{}, as("nobody")]) {
      const answer = await served.send(path, { method, headers });
      expect(answer.status).toBe(401);
      expect(answer.headers.get("www-authenticate")).toMatch(/^Bearer/);
    }
  });

  it("/mcp is refused as well; /health and the description are everybody's", async () => {
    const answer = await served.send("/mcp", { method: "POST", body: "{}" });
    expect(answer.status).toBe(401);
    expect((await served.get("/health")).status).toBe(200);
    expect((await served.get("/openapi.json")).status).toBe(200);
  });

  it("a session of one door is one of the other, for the same principal", async () => {
    const ada = await openMcp(served, "2025-06-18", as("ada"));
    await ada.call("start_python_session", { session_id: "shared" });
    await ada.call("execute_python_code", { command: "x = 6 * 7", session_id: "shared" });
    const rest = await served.post("/execute", { code: "x", session_id: "shared" }, as("ada"));
    expect(rest.json.stdout).toBe("42");
    const stopped = await served.send("/v1/sessions/shared", { method: "DELETE", headers: as("ada") });
    expect(stopped.status).toBe(200);
  });

  it("what is one's is not there for another, and names do not meet", async () => {
    const ada = await openMcp(served, "2025-06-18", as("ada"));
    const bob = await openMcp(served, "2025-06-18", as("bob"));
    await ada.call("start_python_session", { session_id: "lab" });
    await ada.call("execute_python_code", { command: "open('secret.txt', 'w').write('s')", session_id: "lab" });
    const unknown = await served.get("/v1/sessions/nope", as("bob"));
    const foreign = await served.get("/v1/sessions/lab", as("bob"));
    expect([foreign.status, foreign.json]).toEqual([unknown.status, unknown.json]);
    for (const path of ["/files", "/files/secret.txt", "/variables"]) {
      expect((await served.get(`/v1/sessions/lab${path}`, as("bob"))).status).toBe(404);
    }
    const told = await served.post("/execute", { code: "1", session_id: "lab" }, as("bob"));
    expect(told.json.stderr).toBe("Error: Session 'lab' not found.");
    expect((await bob.call("stop_python_session", { session_id: "lab" })).result.isError).toBe(true);
    expect((await bob.call("list_python_sessions", {})).result.structuredContent).toEqual({ result: [] });
    expect((await bob.request("resources/read", { uri: "session:///lab/files/secret.txt" })).error?.code).toBe(-32002);
    expect((await bob.call("start_python_session", { session_id: "lab" })).result.isError).toBe(false);
    expect((await served.get("/v1/leases", as("bob"))).json.leases).toHaveLength(1);
    for (const name of ["ada", "bob"]) await served.send("/v1/sessions/lab", { method: "DELETE", headers: as(name) });
  });

  const start = (name: string, session_id?: string) => served.post("/v1/sessions/session", { session_id }, as(name));
  const ids = ["s1", "s2", "s3", "s4", "s5"] as const;
  const readable = ["/v1/sessions", "/v1/sessions/session", "/v1/sessions/s1", "/v1/leases", "/metrics", "/health"];
  it("one that has all its sessions keeps no other out, and no route tells another of them", async () => {
    const seenByBob = () => Promise.all(readable.map(async (path) => (await served.get(path, as("bob"))).json));
    const before = await seenByBob();
    for (const id of ids) expect((await start("ada", id)).status).toBe(201);
    const sixth = await start("ada");
    expect([sixth.status, sixth.json.error]).toEqual([503, "no more than 5 sessions at once"]);
    expect(await seenByBob()).toEqual(before);
    for (const id of ids) expect((await start("bob", id)).status).toBe(201);
    const bobs = await start("bob");
    expect([bobs.status, bobs.json]).toEqual([sixth.status, sixth.json]);
    for (const name of ["ada", "bob"]) {
      for (const id of ids) await served.send(`/v1/sessions/${id}`, { method: "DELETE", headers: as(name) });
    }
  });

  it("who finds the sessions of all owners taken is told of the limit, and of nobody", async () => {
    const limits = { maxSessions: 1, maxTotalSessions: 1 };
    await using small = await serve({ doors: { admitter }, sessions: { limits } });
    expect((await small.post("/v1/sessions/session", { session_id: "lab" }, as("ada"))).status).toBe(201);
    const refused = await small.post("/v1/sessions/session", { session_id: "lab" }, as("bob"));
    expect([refused.status, refused.json]).toEqual([
      503,
      {
        error: "no more than 1 sessions of all owners at once",
        code: "SESSION_LIMIT_REACHED",
        cure: "try again later, or ask the operator to raise maxTotalSessions",
      },
    ]);
  });

  it("figures of all are for operators", async () => {
    expect((await served.get("/metrics", as("ada"))).status).toBe(403);
    expect((await served.get("/v1/profiles", as("ada"))).status).toBe(403);
    expect((await served.get("/metrics", as("op"))).status).toBe(200);
    expect((await served.get("/v1/profiles", as("op"))).status).toBe(200);
  });
});
