import { appendFileSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect } from "vitest";
import { partTest } from "../../../fixtures/parts.js";
import { openMcp } from "./http/support/mcp-client.js";
import { entriesOf, place, run, startSession } from "./places.js";
import { ask, type Served, serve, tokenHeaders } from "./shipyard.js";

const test = partTest("bubblewrap", "python3");
const lines = [
  "profiles: { python: { template: /usr/bin/python3, policy: { limits: { openFiles: 256 } } } }",
  "sessions: { warmWorkers: 1 }",
  "uploads: { maxBytes: 1048576 }",
];
const told =
  /^When this sandbox started, \/app\/uploads held \d+ bytes, over its limit of 1048576: files can be read and removed in it/;

/** Calls a tool; the result alone. */
type CallTool = (name: string, args: unknown) => Promise<{ readonly content?: unknown }>;

interface Full {
  readonly served: Served;
  readonly state: string;
  readonly uploads: string;
  readonly call: CallTool;
}

/** A server whose owner has a file of 2 MiB where 1 may be. */
async function serveFull(): Promise<Full> {
  const { folder, state, args } = place(lines);
  const uploads = join(folder, "up");
  mkdirSync(uploads, { mode: 0o700 });
  writeFileSync(join(uploads, "large"), new Uint8Array(2 ** 21));
  const served = await serve([...args, "--uploads", uploads]);
  const mcp = await openMcp({ send: (path, init) => fetch(`${served.url}${path}`, init) });
  return { served, state, uploads, call: async (name, args) => (await mcp.call(name, args)).result };
}

const get = (served: Served, path: string): Promise<{ readonly status: number; readonly body: unknown }> =>
  ask(`${served.url}${path}`, undefined);

const writes = "open('/app/uploads/large', 'r+b', 0).write(b'x')";

describe("a principal whose uploads hold more than uploads.maxBytes", () => {
  test("is told so in its session, can read and remove there, and has an ordinary one after that", async () => {
    const { served, state, uploads } = await serveFull();
    expect(await startSession(served, "full")).toMatchObject({ status: 201, body: { session_id: "full" } });
    expect(await get(served, "/v1/sessions/full")).toMatchObject({
      body: { restriction: expect.stringMatching(told) },
    });
    const execute = (session: string, code: string): Promise<unknown> =>
      ask(`${served.url}/v1/sessions/${session}/execute`, { code });
    expect(await execute("full", writes)).toMatchObject({
      body: {
        status: "error",
        fault: { name: "OSError", message: "[Errno 27] File too large" },
        restriction: expect.stringMatching(told),
      },
    });
    expect(await execute("full", "open('/workspace/x', 'w')")).toMatchObject({
      body: { fault: { message: "[Errno 122] Disk quota exceeded: '/workspace/x'" } },
    });
    const put = await fetch(`${served.url}/v1/sessions/full/files/notes.txt`, { method: "PUT", body: "x" });
    expect([put.status, await put.json()]).toMatchObject([
      403,
      { code: "FILE_REFUSED", error: '"notes.txt": Disk quota exceeded' },
    ]);
    expect(await execute("full", "len(open('/app/uploads/large', 'rb').read())")).toMatchObject({
      body: { result: "2097152" },
    });
    expect(await get(served, "/v1/leases")).toMatchObject({
      body: {
        leases: expect.arrayContaining([
          expect.objectContaining({ session: "full", restriction: expect.stringMatching(told) }),
        ]),
      },
    });
    expect(await (await fetch(`${served.url}/metrics`)).text()).toContain("\nshipyard_restricted_sessions 1\n");
    expect(entriesOf(state)).toContainEqual(
      expect.objectContaining({ type: "lease.active", restriction: expect.stringMatching(told) }),
    );
    expect(await execute("full", "!rm /app/uploads/large")).toMatchObject({ body: { status: "ok" } });
    expect(readdirSync(uploads)).toEqual([]);
    await startSession(served, "next");
    expect(await execute("next", "open('/app/uploads/new', 'w').write('x')")).toMatchObject({
      body: { status: "ok", result: "1" },
    });
    const next = await get(served, "/v1/sessions/next");
    expect(next).not.toMatchObject({ body: { restriction: expect.anything() } });
    expect(await get(served, "/health")).toEqual({ status: 200, body: { status: "ok" } });
  });

  test("is told so over MCP behind what it was always told, and can remove without a session", async () => {
    const { call, uploads } = await serveFull();
    const started = await call("start_python_session", { session_id: "full" });
    expect(started).toMatchObject({
      structuredContent: { session_id: "full", status: "active", created_at: expect.any(String) },
      content: [
        { type: "text", text: expect.stringContaining('"session_id": "full"') },
        { type: "text", text: expect.stringMatching(told) },
      ],
    });
    expect(await call("execute_python_code", { command: writes })).toMatchObject({
      content: [
        { text: expect.stringMatching(/^Error: Execution Error:\n(?:.*\n)*.*File too large/) },
        { type: "text", text: expect.stringMatching(told) },
      ],
    });
    await call("execute_python_code", { command: "import os; os.remove('/app/uploads/large')" });
    expect(readdirSync(uploads)).toEqual([]);
    const written = await call("execute_python_code", { command: "open('/app/uploads/new', 'w').write('x')" });
    expect(written).toMatchObject({ content: [{ type: "text", text: "1" }], structuredContent: { result: "1" } });
    expect(written.content).toHaveLength(1);
  });

  test("removes by a call of the original's route as well", async () => {
    const { served, uploads } = await serveFull();
    expect(await run(served, writes)).toMatchObject({ stderr: expect.stringContaining("File too large") });
    expect(await run(served, "!rm -v /app/uploads/large")).toMatchObject({ stderr: "" });
    expect(readdirSync(uploads)).toEqual([]);
    expect(await run(served, "open('/app/uploads/new', 'w').write('x')")).toMatchObject({ stdout: "1", stderr: "" });
  });

  test("is no matter for the others", async () => {
    const { folder, state, config, args } = place(lines);
    const tokens = join(folder, "tokens.jsonl");
    const [ada, bob] = [await tokenHeaders("ada", tokens), await tokenHeaders("bob", tokens)];
    appendFileSync(config, `auth: { tokenFile: ${tokens} }\n`);
    const served = await serve(args);
    mkdirSync(join(state, "uploads", "ada"), { mode: 0o700 });
    writeFileSync(join(state, "uploads", "ada", "large"), new Uint8Array(2 ** 21));
    const execute = (who: Readonly<Record<string, string>>): Promise<unknown> =>
      ask(`${served.url}/v1/execute`, { code: "open('/app/uploads/new', 'w').write('x')" }, who);
    expect(await execute(ada)).toMatchObject({ body: { status: "error", restriction: expect.stringMatching(told) } });
    expect(await execute(bob)).toMatchObject({ body: { status: "ok", result: "1" } });
  });

  test("is refused by a text that says who can help where it cannot help itself", async () => {
    const { served, call, uploads } = await serveFull();
    mkdirSync(join(uploads, ...Array.from({ length: 130 }, () => "d")), { recursive: true });
    const refusal = /: \/app\/uploads cannot be cleared from inside: folders are nested deeper than 128$/;
    expect(await ask(`${served.url}/v1/sessions`, { session_id: "deep" })).toMatchObject({
      status: 503,
      body: {
        error: expect.stringMatching(refusal),
        cure: expect.stringContaining("the operator has to remove files"),
      },
    });
    expect(await call("execute_python_code", { command: "1" })).toMatchObject({
      isError: true,
      content: [{ text: expect.stringContaining("the operator has to remove files") }],
    });
    const { body } = await get(served, "/v1/leases");
    expect(JSON.stringify(body)).not.toContain(uploads);
  });
});
