import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

const program = fileURLToPath(new URL("./programs/sample-server.mjs", import.meta.url));
const manifest = createRequire(import.meta.url).resolve("@modelcontextprotocol/inspector/package.json");
const { bin } = createRequire(import.meta.url)(manifest);
const inspector = join(dirname(manifest), bin["mcp-inspector"]);

let home: string;
let httpServer: ChildProcess;
let url: string;

beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), "berth-inspector-"));
  const started = spawn(process.execPath, [program, "http"], { stdio: ["ignore", "pipe", "ignore"] });
  httpServer = started;
  const [line] = await once(createInterface({ input: started.stdout }), "line");
  url = String(line);
});
afterAll(async () => {
  httpServer.kill();
  await once(httpServer, "exit");
  await rm(home, { recursive: true, force: true });
});

interface Answer {
  readonly exitCode: number;
  /** What it printed, as the client of a person would show it. */
  readonly printed: unknown;
}

/** One run of the Inspector's command line: a client of its own that connects, asks and leaves. */
function inspect(server: readonly string[], era: string, ...args: readonly string[]): Promise<Answer> {
  const line = [inspector, "--cli", ...server, "--protocol-era", era, "--format", "json", "--quiet", ...args];
  return new Promise((resolve) => {
    execFile(
      process.execPath,
      line,
      { env: { ...process.env, HOME: home }, timeout: 25_000 },
      (error, stdout, stderr) => {
        const text = stdout.trim() === "" ? stderr : stdout;
        resolve({
          exitCode: typeof error?.code === "number" ? error.code : error === null ? 0 : -1,
          printed: JSON.parse(text),
        });
      },
    );
  });
}

const wheres = [
  { transport: "stdio", server: () => [process.execPath, program] },
  { transport: "HTTP", server: () => [url] },
];
const rows = wheres.flatMap((where) => ["legacy", "modern"].map((era) => ({ ...where, era })));

describe.each(rows)("the MCP Inspector's command line, $era over $transport", ({ server, era }) => {
  const ask = (...args: readonly string[]): Promise<Answer> => inspect(server(), era, ...args);

  it("lists, and calls a tool", async () => {
    const listed = await ask("--method", "tools/list");
    expect(JSON.stringify(listed.printed)).toContain('"echo"');
    expect(JSON.stringify(listed.printed)).not.toContain('"secret"');
    const called = await ask("--method", "tools/call", "--tool-name", "echo", "--tool-arg", "text=hello");
    expect(called).toMatchObject({ exitCode: 0 });
    expect(JSON.stringify(called.printed)).toContain('{"type":"text","text":"hello"}');
  });

  it("gets prompts and reads resources", async () => {
    const prompt = await ask("--method", "prompts/get", "--prompt-name", "greet", "--prompt-args", "who=Ada");
    expect(JSON.stringify(prompt.printed)).toContain("Greet Ada");
    const read = await ask("--method", "resources/read", "--uri", "note:///1");
    expect(JSON.stringify(read.printed)).toContain('"first"');
    const templates = await ask("--method", "resources/templates/list");
    expect(JSON.stringify(templates.printed)).toContain("note:///by/{author}");
  });

  it("is told no more of a hidden tool than of one that is not there", async () => {
    const [hidden, absent] = await Promise.all(
      ["secret", "absent"].map((name) => ask("--method", "tools/call", "--tool-name", name)),
    );
    expect(hidden?.exitCode).not.toBe(0);
    expect(JSON.stringify(hidden).replaceAll("secret", "absent")).toBe(JSON.stringify(absent));
  });
});
