import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Served, serve } from "./support/served.js";

let served: Served;
beforeAll(async () => {
  served = await serve();
});
afterAll(() => served[Symbol.asyncDispose]());

const path = "/v1/sessions/session";

describe("POST /execute", () => {
  const shown = [
    { name: "what is printed", code: "print('hi')", stdout: "hi\n" },
    { name: "the last value", code: "1 + 1", stdout: "2" },
    {
      name: "both, and stderr, with nothing between",
      code: "import sys\nprint(1)\nprint(2, file=sys.stderr)\n3",
      stdout: "1\n2\n3",
    },
    { name: "nothing, in the original's words", code: "x = 1", stdout: "[Execution successful with no output]" },
    { name: "printed text that looks like an error", code: "print('Error: not one')", stdout: "Error: not one\n" },
  ];
  it.each(shown)("gives $name", async ({ code, stdout }) => {
    const { status, json } = await served.post("/execute", { code });
    expect({ status, json }).toEqual({
      status: 200,
      json: { stdout, stderr: "", execution_time: expect.any(Number), cpu_time: json.execution_time },
    });
  });

  it("takes command for code, the first that is not empty", async () => {
    expect((await served.post("/execute", { code: "", command: "print(1)" })).json.stdout).toBe("1\n");
    expect((await served.post("/execute", { code: "print(2)", command: "print(1)" })).json.stdout).toBe("2\n");
  });

  it.each([
    { language: "python", timeout: 30 },
    { language: "bash", timeout: "x" },
    { language: 7, timeout: -1 },
  ])("passes over what the original passed over: %o", async (ignored) => {
    const { status, json } = await served.post("/execute", { code: "print(1)", ...ignored });
    expect([status, json.stdout, json.stderr]).toEqual([200, "1\n", ""]);
  });

  it("answers 200 to code that raises, with the traceback as stderr and what was printed before as stdout", async () => {
    const { status, json } = await served.post("/execute", { code: "print('before')\n1/0" });
    expect(status).toBe(200);
    expect(json.stdout).toBe("before\n");
    expect(json.stderr).toMatch(/^Error: Execution Error:\n[\s\S]*ZeroDivisionError/);
    expect(json.stderr).not.toContain("\u001b");
  });

  it("answers 400 without code and 500 to what is no JSON, in the same four fields", async () => {
    for (const [body, status] of [
      ["{}", 400],
      ["", 400],
      ['{"code":""}', 400],
      ["{", 500],
    ] as const) {
      const answer = await served.post("/execute", body);
      expect(answer.status).toBe(status);
      expect(answer.json).toMatchObject({ stdout: "", stderr: expect.stringMatching(/^Error: /) });
    }
    expect((await served.post("/execute", {})).json).toMatchObject({ execution_time: 0, cpu_time: 0 });
  });

  it("names a session that is not there, with 200", async () => {
    const { status, json } = await served.post("/execute", { code: "1", session_id: "nope" });
    expect([status, json.stdout, json.stderr]).toEqual([200, "", "Error: Session 'nope' not found."]);
  });

  it("runs the same call with the same key once", async () => {
    const call = { code: "import os; print(os.urandom(8).hex())" };
    const first = await served.post("/execute", call, { "idempotency-key": "k1" });
    const again = await served.post("/execute", call, { "idempotency-key": "k1" });
    expect(again.json.stdout).toBe(first.json.stdout);
  });

  it.each([{}, { session_id: "ends" }])("tells of a process that ends, and runs nothing again: %j", async (where) => {
    const folder = await mkdtemp(join(tmpdir(), "berth-once-"));
    const file = join(folder, "runs");
    await served.post(path, where);
    const code = `open(${JSON.stringify(file)}, 'a').write('x')\nprint('x', flush=True)\nimport os; os._exit(3)`;
    const { status, json } = await served.post("/execute", { code, ...where });
    expect([status, json.stdout]).toEqual([200, "x\n"]);
    expect(json.stderr).toMatch(/^Error: The Python process ended/);
    // Another call has been served since, so that one that was sent again would have run.
    expect((await served.post("/execute", { code: "1" })).json.stdout).toBe("1");
    expect(await readFile(file, "utf8")).toBe("x");
    for (const { id } of served.sessions.list("local")) await served.delete(`${path}?session_id=${id}`);
    await rm(folder, { recursive: true });
  });
});

describe("sessions by REST", () => {
  it("start, are used, listed by id, stopped, and free again", async () => {
    const started = await served.post(path, { session_id: "b" });
    expect(started.status).toBe(201);
    expect(started.json).toEqual({ session_id: "b", status: "active", created_at: expect.stringMatching(/Z$/) });
    expect((await served.post(path, { session_id: "a" })).status).toBe(201);
    await served.post("/execute", { code: "x = 41", session_id: "a" });
    expect((await served.post("/execute", { code: "x + 1", session_id: "a" })).json.stdout).toBe("42");
    expect((await served.post("/execute", { code: "x", session_id: "b" })).json.stderr).toContain("NameError");
    const list = await served.get(path);
    expect(list.json.sessions.map(({ session_id }: { session_id: string }) => session_id)).toEqual(["a", "b"]);
    expect((await served.get(`${path}?session_id=a`)).json).toMatchObject({ session_id: "a", status: "active" });
    expect((await served.delete(`${path}?session_id=a`)).json).toMatchObject({ session_id: "a", status: "stopped" });
    expect((await served.get(`${path}?session_id=a`)).status).toBe(404);
    const stopped = await served.send(path, { method: "DELETE", body: '{"session_id":"b"}' });
    expect([stopped.status, await stopped.json()]).toEqual([200, expect.objectContaining({ status: "stopped" })]);
    expect((await served.get(path)).json).toEqual({ sessions: [] });
    expect((await served.post(path, { session_id: "a" })).status).toBe(201);
    expect((await served.post("/execute", { code: "x", session_id: "a" })).json.stderr).toContain("NameError");
    await served.delete(`${path}?session_id=a`);
  });

  it.each(["", "{}", '{"session_id":null}', '{"session_id":""}'])("an id is made up for %j", async (body) => {
    const { status, json } = await served.post(path, body);
    expect([status, json.session_id]).toEqual([201, expect.stringMatching(/^session_[0-9a-f]{12}$/)]);
    await served.delete(`${path}?session_id=${json.session_id}`);
  });

  const refused = [
    { name: "what is no JSON", method: "POST", body: "{", status: 400 },
    { name: "an id that is none", method: "POST", body: '{"session_id":"a b"}', status: 400 },
    { name: "an id that is no text", method: "POST", body: '{"session_id":5}', status: 400 },
    { name: "a stop without an id", method: "DELETE", body: undefined, status: 400 },
    { name: "a stop of none", method: "DELETE", body: '{"session_id":"nope"}', status: 404 },
  ];
  it.each(refused)("$name is $status with an error", async ({ method, body, status }) => {
    const answer = await served.send(path, body === undefined ? { method } : { method, body });
    expect(answer.status).toBe(status);
    expect(await answer.json()).toEqual(expect.objectContaining({ error: expect.any(String) }));
  });

  it("an id in use is 409, a sixth session 503; after a stop there is room", async () => {
    const ids = ["s1", "s2", "s3", "s4", "s5"];
    for (const session_id of ids) expect((await served.post(path, { session_id })).status).toBe(201);
    expect((await served.post(path, { session_id: "s1" })).status).toBe(409);
    const sixth = await served.post(path, {});
    expect([sixth.status, sixth.json.error]).toEqual([503, "no more than 5 sessions at once"]);
    expect((await served.post("/execute", { code: "1" })).json.stdout).toBe("1");
    await served.delete(`${path}?session_id=s1`);
    expect((await served.post(path, { session_id: "s6" })).status).toBe(201);
    for (const id of [...ids.slice(1), "s6"]) await served.delete(`${path}?session_id=${id}`);
  });
});

describe("what is not there", () => {
  it("is 404, and a wrong method 405 with those that there are", async () => {
    expect((await served.get("/nothing")).status).toBe(404);
    const wrong = await served.send("/execute");
    expect([wrong.status, wrong.headers.get("allow")]).toEqual([405, "POST"]);
  });

  it.each(["/v1/browser/interactions/navigate", "/v1/browser/interactions/content"])(
    "%s is 501 with a reason",
    async (at) => {
      const { status, json } = await served.post(at, { url: "https://example.com" });
      expect([status, json.error]).toEqual([501, expect.stringContaining("no browser")]);
    },
  );

  it("health is ok", async () => {
    expect(await served.get("/health")).toMatchObject({ status: 200, json: { status: "ok" } });
  });
});

it("none of this was a fault of the server", () => {
  expect(served.faults).toEqual([]);
});
