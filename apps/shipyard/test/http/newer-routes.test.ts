import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { endless, tellingEndless } from "../cells.js";
import { type Served, serve } from "./support/served.js";

let served: Served;
beforeAll(async () => {
  served = await serve({ doors: { limits: { maxBodyBytes: 4_096, maxFileBytes: 4_096, maxUnreadBytes: 1_024 } } });
});
afterEach(async () => {
  for (const { id } of served.sessions.list("local")) await served.sessions.get("local", id).stop();
});
afterAll(() => served[Symbol.asyncDispose]());

const start = (session_id: string, more = {}) => served.post("/v1/sessions", { session_id, ...more });

describe("a session", () => {
  it("is told with its lease, its limits and its end, also after the end", async () => {
    const started = await start("lab", { ttl_ms: 60_000, idle_ms: 30_000 });
    expect(started.status).toBe(201);
    expect(started.headers.get("location")).toBe("/v1/sessions/lab");
    expect(started.json).toMatchObject({ session_id: "lab", state: "active", isolated: false });
    expect(started.json.lease).toMatchObject({ state: "active", profile: "python", idle_ms: 30_000 });
    expect((await served.get("/v1/sessions")).json.sessions).toHaveLength(1);
    await served.post("/v1/sessions/lab/execute", { code: "import os; os.kill(os.getpid(), 9)" });
    const dead = await served.get("/v1/sessions/lab");
    expect(dead).toMatchObject({ status: 200, json: { state: "dead", end: { reason: "signal" } } });
    expect((await served.get("/v1/sessions")).json).toEqual({ sessions: [] });
    expect((await served.get("/v1/sessions/session")).json).toEqual({ sessions: [] });
    const refused = await served.post("/v1/sessions/lab/execute", { code: "1" });
    expect(refused).toMatchObject({ status: 410, json: { code: "SESSION_DEAD", end: { reason: "signal" } } });
    expect((await start("lab")).status).toBe(201);
  });

  it("that nobody has is 404 by every route", async () => {
    for (const path of ["", "/variables", "/files", "/files/a"]) {
      expect((await served.get(`/v1/sessions/none${path}`)).status).toBe(404);
    }
    for (const [path, body] of [
      ["/interrupt", {}],
      ["/execute", { code: "1" }],
      ["/renew", { ttl_ms: 1_000 }],
    ] as const) {
      expect((await served.post(`/v1/sessions/none${path}`, body)).status).toBe(404);
    }
    expect((await served.delete("/v1/sessions/none")).status).toBe(404);
  });

  it("is renewed by who knows its generation", async () => {
    const { json } = await start("lab", { ttl_ms: 60_000 });
    const { generation, expires_at } = json.lease;
    const renewed = await served.post("/v1/sessions/lab/renew", { ttl_ms: 600_000, generation });
    expect(renewed.json.lease.generation).toBeGreaterThan(generation);
    expect(Date.parse(renewed.json.lease.expires_at)).toBeGreaterThan(Date.parse(expires_at));
    const stale = await served.post("/v1/sessions/lab/renew", { ttl_ms: 600_000, generation });
    expect(stale).toMatchObject({ status: 409, json: { code: "GENERATION_STALE" } });
  });

  it("is interrupted while it runs, and goes on", async () => {
    await start("lab");
    expect((await served.post("/v1/sessions/lab/interrupt", {})).json).toEqual({ interrupted: false });
    const stream = await served.doors.fetch(
      new Request("http://localhost/v1/sessions/lab/execute", {
        method: "POST",
        headers: { host: "localhost", "content-type": "application/json", accept: "application/x-ndjson" },
        body: JSON.stringify({ code: tellingEndless }),
      }),
    );
    const reader = stream.body?.pipeThrough(new TextDecoderStream()).getReader();
    expect(JSON.parse((await reader?.read())?.value ?? "")).toEqual({
      kind: "stdout",
      text: expect.stringMatching(/^on/),
    });
    expect((await served.post("/v1/sessions/lab/interrupt", {})).json).toEqual({ interrupted: true });
    let rest = "";
    for (let part = await reader?.read(); part?.done === false; part = await reader?.read()) rest += part.value;
    expect(JSON.parse(rest.trim().split("\n").at(-1) ?? "")).toMatchObject({
      kind: "outcome",
      outcome: { status: "interrupted" },
    });
    expect((await served.post("/v1/sessions/lab/execute", { code: "1+1" })).json.result).toBe("2");
  });

  it("tells its variables", async () => {
    await start("lab");
    await served.post("/v1/sessions/lab/execute", { code: "number = 5\nname = 'ada'" });
    const { json } = await served.get("/v1/sessions/lab/variables");
    expect(json.variables).toMatchObject([
      { name: "name", type: "str", preview: "'ada'" },
      { name: "number", type: "int", preview: "5" },
    ]);
  });
});

describe("code", () => {
  it("has an outcome with everything that is known of it", async () => {
    const ok = await served.post("/v1/execute", { code: "import sys\nprint(1)\nprint(2, file=sys.stderr)\n3" });
    expect(ok.json).toMatchObject({
      status: "ok",
      stdout: { text: "1\n", bytes: 2, truncated: false },
      stderr: { text: "2\n" },
      result: "3",
      count: 1,
    });
    const html = "class H:\n  def _repr_html_(self): return '<b>h</b>'\nH()";
    const shown = await served.post("/v1/execute", { code: html });
    expect(shown.json.displays).toMatchObject([{ kind: "result", data: { "text/html": "<b>h</b>" } }]);
    const bad = await served.post("/v1/execute", { code: "1/0" });
    expect(bad.json).toMatchObject({
      status: "error",
      fault: { name: "ZeroDivisionError", message: "division by zero" },
    });
    const late = await served.post("/v1/execute", { code: endless, timeout_ms: 50 });
    expect(late.json).toMatchObject({ status: "timeout", reason: expect.any(String) });
  });

  it("comes as it runs, as events or as lines, with its outcome at the end", async () => {
    const code = "print('a', flush=True)\nfrom math import pi\npi";
    const forms = [
      {
        accept: "text/event-stream",
        values: (text: string) => [...text.matchAll(/^data: (.*)$/gm)].map(([, one = ""]) => one),
      },
      { accept: "application/x-ndjson", values: (text: string) => text.trim().split("\n") },
    ];
    for (const { accept, values } of forms) {
      const answer = await served.post("/v1/execute", { code }, { accept });
      expect(answer.headers.get("content-type")).toBe(accept);
      const events = values(answer.json).map((line) => JSON.parse(line));
      expect(events[0]).toMatchObject({ kind: "stdout" });
      expect(events.at(-1)).toMatchObject({ kind: "outcome", outcome: { status: "ok", result: "3.141592653589793" } });
    }
  });

  it("that is refused says so in the stream as well", async () => {
    const answer = await served.post("/v1/sessions/none/execute", { code: "1" }, { accept: "application/x-ndjson" });
    expect(JSON.parse(answer.json)).toEqual({
      kind: "refused",
      refusal: { error: expect.any(String), code: "SESSION_NOT_FOUND" },
    });
  });

  it("whose output nobody reads is bounded: the rest is counted, and in the outcome", async () => {
    const response = await served.doors.fetch(
      new Request("http://localhost/v1/execute", {
        method: "POST",
        headers: { host: "localhost", "content-type": "application/json", accept: "application/x-ndjson" },
        body: JSON.stringify({ code: "for n in range(200):\n  print('x' * 50, flush=True)" }),
      }),
    );
    // Not read until it is over.
    await expect.poll(() => served.sessions.counts().sessionless, { timeout: 10_000 }).toBe(0);
    const last = JSON.parse((await response.text()).trim().split("\n").at(-1) ?? "");
    expect(last.events_dropped).toBeGreaterThan(0);
    expect(last.outcome.stdout).toMatchObject({ bytes: 200 * 51, truncated: false });
  });

  it("with a key runs once; with the same key and other code it is refused", async () => {
    await start("lab");
    const path = "/v1/sessions/lab/execute";
    const key = { "idempotency-key": "k" };
    await served.post(path, { code: "n = 1" });
    const first = await served.post(path, { code: "n += 1; n" }, key);
    expect(first.json.result).toBe("2");
    expect((await served.post(path, { code: "n += 1; n" }, key)).json).toEqual(first.json);
    expect(await served.post(path, { code: "n" }, key)).toMatchObject({
      status: 422,
      json: { code: "IDEMPOTENCY_CONFLICT" },
    });
    expect((await served.post(path, { code: "n" })).json.result).toBe("2");
  });

  const refused = [
    { name: "no code", body: "{}", type: "application/json", status: 400 },
    { name: "an unknown member", body: '{"code":"1","cod":1}', type: "application/json", status: 400 },
    { name: "a time that is none", body: '{"code":"1","timeout_ms":0}', type: "application/json", status: 400 },
    {
      name: "a time over the ceiling",
      body: '{"code":"1","timeout_ms":99999999}',
      type: "application/json",
      status: 400,
    },
    { name: "what is no JSON", body: "code=1", type: "application/json", status: 400 },
    { name: "another type", body: '{"code":"1"}', type: "text/plain", status: 415 },
    { name: "too large a body", body: `{"code":"${"x".repeat(5_000)}"}`, type: "application/json", status: 413 },
  ];
  it.each(refused)("$name is $status", async ({ body, type, status }) => {
    const answer = await served.post("/v1/execute", body, { "content-type": type });
    expect([answer.status, answer.json.error]).toEqual([status, expect.any(String)]);
  });
});

describe("files", () => {
  it("are put, listed, got byte for byte, and removed", async () => {
    await start("lab");
    const path = "/v1/sessions/lab/files";
    const bytes = Uint8Array.from({ length: 256 }, (_, at) => at);
    const put = await served.send(`${path}/a/b%20c.bin`, { method: "PUT", body: bytes });
    expect(await put.json()).toMatchObject({ path: "a/b c.bin", kind: "file", bytes: 256 });
    const { json } = await served.post("/v1/sessions/lab/execute", { code: "len(open('a/b c.bin', 'rb').read())" });
    expect(json.result).toBe("256");
    const listed = await served.get(`${path}?path=a`);
    expect(listed.json.files).toMatchObject([{ path: "a/b c.bin" }]);
    const got = await served.send(`${path}/a/b%20c.bin`);
    expect(new Uint8Array(await got.arrayBuffer())).toEqual(bytes);
    expect(got.headers.get("content-disposition")).toBe("attachment; filename*=UTF-8''b%20c.bin");
    expect(got.headers.get("content-security-policy")).toContain("sandbox");
    expect((await served.send(`${path}/a/b%20c.bin`, { method: "DELETE" })).status).toBe(204);
    expect((await served.send(`${path}/a/b%20c.bin`)).status).toBe(404);
  });

  it("too large a file is 413", async () => {
    await start("lab");
    const answer = await served.send("/v1/sessions/lab/files/big", { method: "PUT", body: new Uint8Array(5_000) });
    expect(answer.status).toBe(413);
  });

  it.each(["..%2F..%2Fetc%2Fpasswd", "%2Fetc%2Fpasswd", "a%00b"])("%s leads nowhere", async (path) => {
    await start("lab");
    const answer = await served.send(`/v1/sessions/lab/files/${path}`);
    expect([400, 403, 404]).toContain(answer.status);
  });
});

describe("figures", () => {
  it("are in Prometheus' text form: every line is a comment or a sample", async () => {
    await start("lab");
    await served.post("/execute", { code: "1" });
    const { headers, json } = await served.get("/metrics");
    expect(headers.get("content-type")).toContain("version=0.0.4");
    for (const line of json.trim().split("\n")) {
      expect(line).toMatch(/^(?:# (?:HELP|TYPE) \w+ .+|\w+(?:\{\w+="[^"\\\n]*"(?:,\w+="[^"\\\n]*")*\})? [\d.e+-]+)$/);
    }
    expect(json).toMatch(/^shipyard_calls_total\{door="rest",status="ok"\} [1-9]/m);
    expect(json).toMatch(/^shipyard_call_seconds_bucket\{door="rest",le="\+Inf"\} [1-9]/m);
    expect(json).toMatch(/^shipyard_sessions 1$/m);
    expect(json).toMatch(/^shipyard_leases\{state="active"\} [1-9]/m);
  });

  it("leases and profiles are told to the operator", async () => {
    await start("lab");
    const { json } = await served.get("/v1/leases");
    expect(json.leases).toEqual(expect.arrayContaining([expect.objectContaining({ owner: "local", session: "lab" })]));
    expect((await served.get("/v1/profiles")).json.profiles).toEqual([
      { profile: "python", provider: "unconfined", isolated: false },
    ]);
  });
});

it("each operation of the description was answered here, but those of the original and of the browser", async () => {
  expect((await served.get("/openapi.json")).json.openapi).toBe("3.1.0");
  const { operations, answered } = served.described;
  const others = operations.filter((operation) => !answered.has(operation));
  expect(others.filter((operation) => !/browser|\/execute$|sessions\/session$|\/health$/.test(operation))).toEqual([]);
});

it("none of this was a fault of the server", () => {
  expect(served.faults).toEqual([]);
});
