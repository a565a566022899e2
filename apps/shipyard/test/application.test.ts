import { spawn } from "node:child_process";
import { once } from "node:events";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { describe, expect, it, onTestFinished } from "vitest";
import { appFolder, bin, plainEnvironment, scratchFolder, shipyard } from "./shipyard.js";

const echo = ["serve", "--application", "./examples/echo.js:createEcho", "--principal", "ada"];
const faulty = (factory: string): readonly string[] => [
  ...["serve", "--application", `./test/applications/faulty.mjs:${factory}`, "--principal", "ada"],
];

const opening = { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "t", version: "1" } };
const lines = (...messages: readonly object[]): string =>
  [{ id: 0, method: "initialize", params: opening }, { method: "notifications/initialized" }, ...messages]
    .map((message) => `${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`)
    .join("");
const call = (id: number, name: string): object => ({ id, method: "tools/call", params: { name, arguments: {} } });
const answers = (stdout: string): readonly unknown[] =>
  stdout
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));

describe("serve --application", () => {
  it("serves the example to the official client, for the principal that the operator named", async () => {
    const transport = new StdioClientTransport({
      command: process.execPath,
      args: [bin, ...echo],
      cwd: appFolder,
      env: plainEnvironment,
      stderr: "pipe",
    });
    const client = new Client({ name: "test", version: "1" }, { capabilities: {} });
    onTestFinished(() => client.close());
    await client.connect(transport);
    expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(["echo"]);
    const { content } = await client.callTool({ name: "echo", arguments: { text: "hi", principal: undefined } });
    expect(content).toEqual([{ type: "text", text: "ada: hi" }]);
  });

  it("ends with 0 when its client ends the input", async () => {
    const { code, stdout } = await shipyard(echo, { input: lines({ id: 1, method: "tools/list" }) });
    expect(code).toBe(0);
    expect(answers(stdout)).toMatchObject([{ id: 0 }, { id: 1, result: { tools: [{ name: "echo" }] } }]);
  });

  it("tells an unexpected error to the operator only, and ends with 1", async () => {
    const { code, stdout, stderr } = await shipyard(faulty("createBroken"), { input: lines(call(1, "breaks")) });
    expect(code).toBe(1);
    expect(answers(stdout)).toMatchObject([{ id: 0 }, { id: 1, error: { code: -32603 } }]);
    expect(stdout).not.toContain("1234");
    expect(stderr).toContain("the secret is 1234");
  });

  it("keeps stdout for the protocol, whenever the application prints", async () => {
    const { code, stdout, stderr } = await shipyard(faulty("createPrinting"), { input: lines(call(1, "prints")) });
    expect(code).toBe(0);
    expect(answers(stdout)).toMatchObject([{ id: 0 }, { id: 1, result: { content: [] } }]);
    for (const printed of ["made\n", "with care\n", "called\n"]) expect(stderr).toContain(printed);
  });

  it("tells an error that the application declared safe to the client", async () => {
    const { code, stdout } = await shipyard(faulty("createBroken"), { input: lines(call(1, "tells")) });
    expect(code).toBe(0);
    expect(answers(stdout)).toMatchObject([
      { id: 0 },
      { id: 1, result: { isError: true, content: [{ text: "try another name" }] } },
    ]);
  });

  it("ends with 0 on each of the signals that end it, also with work under way", async () => {
    const end = async (signal: NodeJS.Signals): Promise<unknown> => {
      const child = spawn(process.execPath, [bin, ...faulty("createBroken")], {
        cwd: appFolder,
        env: plainEnvironment,
        stdio: ["pipe", "pipe", "inherit"],
      });
      onTestFinished(() => void child.kill("SIGKILL"));
      const closed = once(child, "close");
      child.stdin.write(lines(call(1, "waits")));
      await once(child.stdout, "data");
      child.kill(signal);
      return closed;
    };
    const signals = ["SIGTERM", "SIGINT", "SIGHUP"] as const;
    expect(await Promise.all(signals.map(end))).toEqual(signals.map(() => [0, null]));
  });

  it.each([
    { name: "no principal", args: ["--application", "./examples/echo.js:createEcho"] },
    { name: "an empty principal", args: ["--application", "./examples/echo.js:createEcho", "--principal", ""] },
    { name: "a blank principal", args: ["--application", "./examples/echo.js:createEcho", "--principal", " "] },
    { name: "a principal without application", args: ["--principal", "ada"] },
    { name: "no factory", args: ["--application", "./examples/echo.js", "--principal", "ada"] },
    { name: "a factory that is no identifier", args: ["--application", "./a.js:a b", "--principal", "ada"] },
    { name: "a package", args: ["--application", "echo:create", "--principal", "ada"] },
    { name: "a package's file", args: ["--application", "echo/x.js:create", "--principal", "ada"] },
    { name: "a URL", args: ["--application", "https://example.org/a.js:create", "--principal", "ada"] },
    { name: "a file URL", args: ["--application", "file:///tmp/a.js:create", "--principal", "ada"] },
    { name: "code", args: ["--application", "data:text/javascript,1:create", "--principal", "ada"] },
    { name: "a part of Node", args: ["--application", "node:fs:create", "--principal", "ada"] },
  ])("is wrong usage, code 2, with $name", async ({ args }) => {
    const { code, stdout } = await shipyard(["serve", ...args]);
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
  });

  it.each([
    { name: "a module that is not there", args: ["--application", "./none.js:create"], told: "none.js" },
    {
      name: "no such export",
      args: ["--application", "./examples/echo.js:create"],
      told: "exports no function create",
    },
    { name: "an inherited name", args: ["--application", "./examples/echo.js:toString"], told: "exports no function" },
    { name: "a value for a factory", args: ["--application", "./test/applications/faulty.mjs:value"], told: "value" },
    {
      name: "no server",
      args: ["--application", "./test/applications/faulty.mjs:createNothing"],
      told: "gave no server",
    },
    {
      name: "a factory that throws, with its stack",
      args: ["--application", "./test/applications/faulty.mjs:createThrowing"],
      told: "faulty.mjs:",
    },
  ])("fails, code 1, for $name", async ({ args, told }) => {
    const { code, stdout, stderr } = await shipyard(["serve", ...args, "--principal", "ada"]);
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
    expect(stderr).toContain(told);
  });

  it("makes no state folder", async () => {
    const folder = scratchFolder();
    const { code } = await shipyard([...echo, "--state", `${folder}/s`], { input: "" });
    expect(code).toBe(0);
    const listed = await shipyard(["leases", "list", "--state", `${folder}/s`]);
    expect(listed).toMatchObject({ code: 2, stderr: expect.stringContaining("is no state folder") });
  });
});
