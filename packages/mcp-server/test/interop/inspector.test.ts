import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { serverProgram } from "./answers.js";
import { type Served, serveInterop } from "./served.js";

const manifest = createRequire(import.meta.url).resolve("@modelcontextprotocol/inspector/package.json");
const { bin } = createRequire(import.meta.url)(manifest);
const inspector = join(dirname(manifest), bin["mcp-inspector"]);

let home: string;
let served: Served;

beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), "berth-inspector-"));
  served = await serveInterop();
});
afterAll(async () => {
  await served.stop();
  await rm(home, { recursive: true, force: true });
});

interface Answer {
  readonly exitCode: number;
  /** What it printed first, as the client of a person would show it. */
  readonly printed: unknown;
}

/** One run of the Inspector's command line: a client of its own that connects, asks and leaves. */
function inspect(server: readonly string[], era: string, ...args: readonly string[]): Promise<Answer> {
  const line = [inspector, "--cli", ...server, "--protocol-era", era, "--format", "json", "--quiet", ...args];
  const settings = { env: { ...process.env, HOME: home }, timeout: 25_000 };
  return new Promise((resolve) => {
    execFile(process.execPath, line, settings, (error, stdout, stderr) => {
      const text = stdout.trim() === "" ? stderr : stdout;
      const exitCode = typeof error?.code === "number" ? error.code : error === null ? 0 : -1;
      resolve({ exitCode, printed: JSON.parse(text) });
    });
  });
}

/** What it says of the server's identity depends on the era and is checked by `initialize` alone. */
const result = (value: Record<string, unknown>): unknown => ({ exitCode: 0, printed: { result: value } });
const echo = ["--method", "tools/call", "--tool-name", "echo"];

/** Every method that the command line has and a server can serve; `skills` and `resources/directory` are of an extension that is not offered. */
const methods: readonly { readonly args: readonly string[]; readonly answer: unknown }[] = [
  {
    args: ["--method", "initialize"],
    answer: result({ serverInfo: { name: "interop", version: "1.2.3" }, instructions: "Use echo first." }),
  },
  {
    args: ["--method", "tools/list", "--strict"],
    answer: result({ tools: expect.arrayContaining([expect.objectContaining({ name: "echo", title: "Echo" })]) }),
  },
  {
    args: [...echo, "--tool-arg", "text=hello"],
    answer: result({ content: [{ type: "text", text: "hello" }] }),
  },
  {
    args: ["--method", "tools/call", "--tool-name", "weather", "--tool-args-json", '{"sky":"cloudy"}'],
    answer: result({ structuredContent: { celsius: 21.5, sky: "cloudy" } }),
  },
  {
    args: ["--method", "tools/call", "--tool-name", "scope", "--metadata", "a=1", "--tool-metadata", "b=2"],
    answer: result({ structuredContent: { principal: "ada", meta: { a: 1, b: 2 } } }),
  },
  {
    args: ["--method", "tools/call", "--tool-name", "fails"],
    answer: { exitCode: 5, printed: { result: { isError: true } } },
  },
  { args: ["--method", "tools/call", "--tool-name", "computes"], answer: result({ content: [{ text: "computed" }] }) },
  {
    args: [...echo, "--tool-arg", "text=x", "--load", "--load-requests", "6", "--load-concurrency", "3"],
    answer: result({ requests: 6, ok: 6, errors: 0, toolErrors: 0 }),
  },
  {
    args: ["--method", "prompts/list"],
    answer: result({ prompts: ["greet", "asking", "filler-1", "filler-2", "filler-3"].map((name) => ({ name })) }),
  },
  {
    args: ["--method", "prompts/get", "--prompt-name", "greet", "--prompt-args", "who=Ada"],
    answer: result({ messages: [{ content: { text: "Greet Ada" } }, {}, {}] }),
  },
  {
    args: ["--method", "resources/list"],
    answer: result({ resources: ["note", "bytes", "asking", "filler-1", "filler-2"].map((name) => ({ name })) }),
  },
  {
    args: ["--method", "resources/read", "--uri", "note:///by/ada/1842"],
    answer: result({ contents: [{ text: "of ada in 1842" }, { blob: "iVBORw0KGgo=" }] }),
  },
  {
    args: ["--method", "resources/templates/list"],
    answer: result({ resourceTemplates: [{ uriTemplate: "note:///by/{author}/{year}" }, {}, {}, {}, {}] }),
  },
];

const wheres = [
  { transport: "stdio", server: () => [process.execPath, serverProgram, "stdio"] },
  { transport: "HTTP", server: () => [served.url.href, "--header", `Authorization: ${served.headers.authorization}`] },
];
const rows = wheres.flatMap((where, row) =>
  ["legacy", "modern"].map((era, column) => ({ ...where, era, turn: row ^ column })),
);

// A run takes a second of processor time, so each method has its turn in two of the four: in both eras, and over both transports.
describe.each(rows)("the MCP Inspector's command line, $era over $transport", ({ server, era, turn }) => {
  const ask = (...args: readonly string[]): Promise<Answer> => inspect(server(), era, ...args);

  it.concurrent.each(methods.filter((_, index) => index % 2 === turn))("$args", async ({ args, answer }) => {
    expect(await ask(...args)).toMatchObject(Object(answer));
  });

  it.concurrent("is told no more of a hidden tool than of one that is not there", async () => {
    const [hidden, absent] = await Promise.all(
      ["secret", "absent"].map((name) => ask("--method", "tools/call", "--tool-name", name)),
    );
    expect(hidden?.exitCode).not.toBe(0);
    expect(JSON.stringify(hidden).replaceAll("secret", "absent")).toBe(JSON.stringify(absent));
  });

  it.concurrent("sets the level of logs, where there still is such a request", async () => {
    const { exitCode } = await ask("--method", "logging/setLevel", "--log-level", "debug");
    expect(exitCode).toBe(era === "legacy" ? 0 : 1);
  });
});

describe("the MCP Inspector's command line", () => {
  it("finds the newest revision by itself, and writes a resource's bytes to a file", async () => {
    const path = join(home, "bytes.png");
    const server = [process.execPath, serverProgram, "stdio"];
    const args = ["--method", "resources/read", "--uri", "note:///bytes", "--output", path, "--output-format", "raw"];
    expect(await inspect(server, "auto", ...args)).toMatchObject({ exitCode: 0 });
    expect((await readFile(path)).toString("base64")).toBe("iVBORw0KGgo=");
  });

  it("is kept out without its bearer token", async () => {
    const refused = await inspect([served.url.href, "--stored-auth-only"], "auto", "--method", "tools/list");
    expect(refused.exitCode).not.toBe(0);
    expect(JSON.stringify(refused.printed)).toMatch(/auth|401/i);
  });
});
