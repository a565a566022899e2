import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { partTest } from "../../../fixtures/parts.js";
import { type HttpServer, serveHttp } from "../src/http.js";
import { createMcpServer } from "../src/index.js";
import { codeBlocks, readme } from "./support/readme.js";

const at = (name: string): string => fileURLToPath(new URL(`../${name}`, import.meta.url));

/** What curl prints: one answer after the other. */
async function bash(script: string, environment: Readonly<Record<string, string>>): Promise<string> {
  const child = spawn("bash", ["-eu", "-c", script], {
    env: { PATH: process.env["PATH"], ...environment },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const [output] = await Promise.all([text(child.stdout), once(child, "exit")]);
  expect(child.exitCode).toBe(0);
  return output;
}

describe("the README", () => {
  it("holds the examples that it names word for word", () => {
    const named = [...readme.matchAll(/<!-- (examples\/[\w-]+\.[jt]s) -->\n```[jt]s\n([\s\S]*?)\n```/g)];
    expect(named.map(([, name]) => name)).toEqual([
      "examples/quickstart.js",
      "examples/bank.ts",
      "examples/notes.js",
      "examples/store-contracts.js",
    ]);
    for (const [, name = "", block] of named) {
      const lines = readFileSync(at(name), "utf8").trim().split("\n");
      expect(block).toBe(lines.filter((line, index) => index > 0 || !line.startsWith("//")).join("\n"));
    }
  });

  it("names only files that exist", () => {
    const names = [
      ...readme.matchAll(/`((?:test|examples)\/[\w./-]+\.\w+)`/g),
      ...readme.matchAll(/^\| `([\w-]+\.[jt]s)`/gm),
    ];
    expect(names.length).toBeGreaterThan(6);
    for (const [, name = ""] of names)
      expect(existsSync(at(name.includes("/") ? name : `examples/${name}`))).toBe(true);
  });

  it("has no code that nothing runs or compiles", () => {
    const languages = [...readme.matchAll(/^```(\w+)$/gm)].map(([, language]) => language);
    expect(new Set(languages)).toEqual(new Set(["js", "ts", "bash"]));
  });
});

describe("the conversations in the README, as they are written", () => {
  const [modern, legacy, ...more] = codeBlocks("bash");
  let http: HttpServer;
  beforeAll(async () => {
    const greet = {
      name: "greet",
      description: "Greets somebody",
      inputSchema: { type: "object", properties: { name: { type: "string" } }, required: ["name"] },
      permission: "greet",
      handler: ({ arguments: { name } }: { arguments: { name?: unknown } }) => `Hello, ${name}!`,
    };
    const server = createMcpServer<string>({
      identity: { name: "greeter", version: "1.0.0" },
      authorize: () => true,
      tools: [greet],
    });
    http = await serveHttp({ server, principal: "local" });
  });
  afterAll(async () => http.close());

  partTest("curl")("get a greeting in 2026-07-28", async () => {
    const answer: unknown = JSON.parse(await bash(modern?.text ?? "", { URL: http.url }));
    expect(answer).toMatchObject({ id: 1, result: { resultType: "complete", content: [{ text: "Hello, Ada!" }] } });
  });

  partTest("curl")("get a greeting in a session, and end it", async () => {
    const answer: unknown = JSON.parse(await bash(legacy?.text ?? "", { URL: http.url }));
    expect(answer).toEqual({ jsonrpc: "2.0", id: 2, result: { content: [{ type: "text", text: "Hello, Ada!" }] } });
    expect(http.sessionCount).toBe(0);
    expect(more).toEqual([]);
  });
});
