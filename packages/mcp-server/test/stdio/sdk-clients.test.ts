import { fileURLToPath } from "node:url";
import { Client as ModernClient } from "@modelcontextprotocol/client";
import { StdioClientTransport as ModernStdio } from "@modelcontextprotocol/client/stdio";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { ElicitRequestSchema, ToolListChangedNotificationSchema } from "@modelcontextprotocol/sdk/types.js";
import { describe, expect, it } from "vitest";

const program = fileURLToPath(new URL("../programs/sample-server.mjs", import.meta.url));
const launch = { command: process.execPath, args: [program], stderr: "ignore" as const };
const info = { name: "sdk-client", version: "1.0.0" };
const capabilities = { elicitation: { form: {} } };
const answers: Readonly<Record<string, Record<string, string>>> = {
  "Who?": { name: "Ada" },
  "Where?": { place: "Turin" },
};

describe("the official SDK's client, 1.x, over stdio", () => {
  it("uses everything that the server offers", async () => {
    const client = new Client(info, { capabilities });
    client.setRequestHandler(ElicitRequestSchema, ({ params }) => ({
      action: "accept",
      content: answers[params.message] ?? {},
    }));
    let changed = 0;
    client.setNotificationHandler(ToolListChangedNotificationSchema, () => {
      changed += 1;
    });
    await client.connect(new StdioClientTransport(launch));
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toEqual(expect.not.arrayContaining(["secret"]));
    expect(tools).toHaveLength(8);
    expect((await client.callTool({ name: "echo", arguments: { text: "grüße" } })).content).toEqual([
      { type: "text", text: "grüße" },
    ]);
    expect((await client.callTool({ name: "prints", arguments: {} })).content).toEqual([
      { type: "text", text: "printed" },
    ]);
    const steps: number[] = [];
    await client.callTool({ name: "steps", arguments: {} }, undefined, {
      onprogress: ({ progress }) => steps.push(progress),
    });
    expect(steps.slice(0, 2)).toEqual([1, 2]);
    expect((await client.callTool({ name: "asks", arguments: {} })).content).toEqual([
      { type: "text", text: "Ada in Turin" },
    ]);
    await expect(client.callTool({ name: "secret", arguments: {} })).rejects.toMatchObject({ code: -32602 });
    await expect(client.callTool({ name: "absent", arguments: {} })).rejects.toMatchObject({ code: -32602 });
    expect((await client.callTool({ name: "echo", arguments: {} })).isError).toBe(true);
    expect((await client.listPrompts()).prompts).toMatchObject([{ name: "greet" }]);
    expect((await client.getPrompt({ name: "greet", arguments: { who: "Ada" } })).messages).toMatchObject([
      { content: { text: "Greet Ada" } },
    ]);
    const ref = { type: "ref/prompt" as const, name: "greet" };
    expect((await client.complete({ ref, argument: { name: "who", value: "al" } })).completion.values).toEqual([
      "alan",
    ]);
    expect((await client.listResources()).resources).toMatchObject([{ uri: "note:///1" }]);
    expect((await client.listResourceTemplates()).resourceTemplates).toMatchObject([{ name: "notes" }]);
    expect((await client.readResource({ uri: "note:///by/a%20b" })).contents).toEqual([
      { uri: "note:///by/a%20b", text: "of a b" },
    ]);
    await client.setLoggingLevel("error");
    await client.ping();
    await client.callTool({ name: "changes", arguments: {} });
    expect(changed).toBe(1);
    const controller = new AbortController();
    const slow = client.callTool({ name: "slow", arguments: {} }, undefined, { signal: controller.signal });
    controller.abort();
    await expect(slow).rejects.toThrow();
    await client.close();
  });
});

describe.each(["legacy", "auto", { pin: "2026-07-28" }] as const)(
  "the official SDK's client, 2.x, in mode %j",
  (mode) => {
    it("uses everything that the server offers", async () => {
      let heard: (names: readonly string[]) => void = () => undefined;
      const changed = new Promise<readonly string[]>((resolve) => {
        heard = resolve;
      });
      const onChanged = (_error: unknown, items: { name: string }[] | null): void =>
        heard((items ?? []).map(({ name }) => name));
      const listChanged = { tools: { onChanged } };
      const client = new ModernClient(info, { capabilities, versionNegotiation: { mode }, listChanged });
      client.setRequestHandler("elicitation/create", ({ params }) => ({
        action: "accept",
        content: answers[params.message] ?? {},
      }));
      await client.connect(new ModernStdio(launch));
      expect((await client.listTools()).tools).toHaveLength(8);
      expect((await client.callTool({ name: "echo", arguments: { text: "grüße" } })).content).toEqual([
        { type: "text", text: "grüße" },
      ]);
      const steps: number[] = [];
      await client.callTool({ name: "steps", arguments: {} }, { onprogress: ({ progress }) => steps.push(progress) });
      expect(steps.slice(0, 2)).toEqual([1, 2]);
      expect((await client.callTool({ name: "asks", arguments: {} })).content).toEqual([
        { type: "text", text: "Ada in Turin" },
      ]);
      await expect(client.callTool({ name: "secret", arguments: {} })).rejects.toMatchObject({ code: -32602 });
      expect((await client.getPrompt({ name: "greet", arguments: { who: "Ada" } })).messages).toMatchObject([
        { content: { text: "Greet Ada" } },
      ]);
      const ref = { type: "ref/prompt" as const, name: "greet" };
      expect((await client.complete({ ref, argument: { name: "who", value: "al" } })).completion.values).toEqual([
        "alan",
      ]);
      expect((await client.readResource({ uri: "note:///1" })).contents).toMatchObject([{ text: "first" }]);
      await expect(client.readResource({ uri: "note:///absent" })).rejects.toThrow();
      await client.callTool({ name: "changes", arguments: {} });
      expect(await changed).toContain("echo");
      const controller = new AbortController();
      const slow = client.callTool({ name: "slow", arguments: {} }, { signal: controller.signal });
      controller.abort();
      await expect(slow).rejects.toThrow();
      await client.close();
    });
  },
);
