import { Client as ModernClient, type Transport as ModernTransport } from "@modelcontextprotocol/client";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js";
import { ElicitRequestSchema, ToolListChangedNotificationSchema } from "@modelcontextprotocol/sdk/types.js";
import { expect } from "vitest";
import { until } from "./held.js";

const info = { name: "sdk-client", version: "1.0.0" };
const capabilities = { elicitation: { form: {} } };
const answers: Readonly<Record<string, Record<string, string>>> = {
  "Who?": { name: "Ada" },
  "Where?": { place: "Turin" },
};

/** Uses everything that the sample server offers, with the client of the official SDK 1.x. */
export async function useAllWith1(transport: Transport): Promise<void> {
  const client = new Client(info, { capabilities });
  client.setRequestHandler(ElicitRequestSchema, ({ params }) => ({
    action: "accept",
    content: answers[params.message] ?? {},
  }));
  let changed = 0;
  client.setNotificationHandler(ToolListChangedNotificationSchema, () => {
    changed += 1;
  });
  await client.connect(transport);
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
  expect((await client.complete({ ref, argument: { name: "who", value: "al" } })).completion.values).toEqual(["alan"]);
  expect((await client.listResources()).resources).toMatchObject([{ uri: "note:///1" }]);
  expect((await client.listResourceTemplates()).resourceTemplates).toMatchObject([{ name: "notes" }]);
  expect((await client.readResource({ uri: "note:///by/a%20b" })).contents).toEqual([
    { uri: "note:///by/a%20b", text: "of a b" },
  ]);
  await client.setLoggingLevel("error");
  await client.ping();
  await client.callTool({ name: "changes", arguments: {} });
  await until(() => changed === 1); // over HTTP it comes on a stream of its own
  const controller = new AbortController();
  const slow = client.callTool({ name: "slow", arguments: {} }, undefined, { signal: controller.signal });
  controller.abort();
  await expect(slow).rejects.toThrow();
  await client.close();
}

/** The same with that of 2.x, which has to be told by which era to begin. */
export async function useAllWith2(
  transport: ModernTransport,
  mode: "legacy" | "auto" | { readonly pin: "2026-07-28" },
): Promise<void> {
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
  await client.connect(transport);
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
  expect((await client.complete({ ref, argument: { name: "who", value: "al" } })).completion.values).toEqual(["alan"]);
  expect((await client.readResource({ uri: "note:///1" })).contents).toMatchObject([{ text: "first" }]);
  await expect(client.readResource({ uri: "note:///absent" })).rejects.toThrow();
  await client.callTool({ name: "changes", arguments: {} });
  expect(await changed).toContain("echo");
  const controller = new AbortController();
  const slow = client.callTool({ name: "slow", arguments: {} }, { signal: controller.signal });
  controller.abort();
  await expect(slow).rejects.toThrow();
  await client.close();
}
