import { describe, expect, it } from "vitest";
import type { McpServerOptions, RequestEvent } from "../../src/index.js";
import { errorOf, openClient, resultOf } from "../support/client.js";
import { notes } from "../support/notes.js";
import { sampleServer } from "../support/sample.js";

/** What each list shows. */
async function shown(more: Partial<McpServerOptions<string>>): Promise<readonly unknown[]> {
  const client = openClient(sampleServer({ ...notes, ...more }));
  const lists = ["tools", "prompts", "resources", "resourceTemplates"];
  const methods = ["tools/list", "prompts/list", "resources/list", "resources/templates/list"];
  const results = await Promise.all(methods.map(async (method) => resultOf(await client.askModern(method))));
  return results.map((result, index) => {
    const entries = result[lists[index] ?? ""];
    return Array.isArray(entries) ? entries.length : undefined;
  });
}
const uses = [
  { method: "tools/call", params: { name: "echo", arguments: { text: "x" } } },
  { method: "prompts/get", params: { name: "greet", arguments: { who: "x" } } },
  { method: "resources/read", params: { uri: "note:///1" } },
  { method: "resources/read", params: { uri: "note:///by/ada" } },
  {
    method: "completion/complete",
    params: { ref: { type: "ref/prompt", name: "greet" }, argument: { name: "who", value: "" } },
  },
];

describe("authorization", () => {
  it.each([
    { name: "no authorizer", authorize: undefined },
    { name: "one that says no", authorize: () => false },
    { name: "one that says no later", authorize: async () => false },
    { name: "one that throws", authorize: () => Promise.reject(new Error("down")) },
  ])("hides and refuses everything with $name", async ({ authorize }) => {
    expect(await shown({ authorize })).toEqual([0, 0, 0, 0]);
    const client = openClient(sampleServer({ ...notes, authorize }));
    for (const { method, params } of uses) expect(errorOf(await client.askModern(method, params)).code).toBe(-32602);
  });

  it("allows what the authorizer allows, also later", async () => {
    for (const authorize of [() => true, async () => true]) {
      const client = openClient(sampleServer({ ...notes, authorize }));
      for (const { method, params } of uses) resultOf(await client.askModern(method, params));
    }
  });

  it("answers a forbidden name as it answers an unknown one", async () => {
    const client = openClient(sampleServer(notes));
    const tell = async (method: string, params: Record<string, string>): Promise<string> =>
      JSON.stringify(errorOf(await client.askModern(method, params))).replaceAll(/absent|secret/g, "NAME");
    expect(await tell("tools/call", { name: "secret" })).toBe(await tell("tools/call", { name: "absent" }));
    expect(await tell("prompts/get", { name: "secret" })).toBe(await tell("prompts/get", { name: "absent" }));
    expect(await tell("resources/read", { uri: "note:///secret" })).toBe(
      await tell("resources/read", { uri: "note:///absent" }),
    );
    await client.initialize();
    expect(errorOf(await client.ask("resources/subscribe", { uri: "note:///secret" }))).toEqual({
      code: -32002,
      message: "Resource not found",
      data: { uri: "note:///secret" },
    });
  });

  it("asks with the principal of the message, the registered permission, kind and name", async () => {
    const asked: unknown[] = [];
    const authorize = (question: unknown): boolean => {
      asked.push(question);
      return true;
    };
    const client = openClient(sampleServer({ ...notes, authorize }), "grace");
    await client.askModern("tools/call", { name: "secret", principal: "root" });
    await client.askModern("resources/read", { uri: "note:///by/ada" });
    expect(asked).toEqual([
      { principal: "grace", permission: "admin", kind: "tool", name: "secret" },
      { principal: "grace", permission: "use", kind: "resourceTemplate", name: "note:///by/{author}" },
    ]);
  });

  it("is told to observers: denied, or a failure when the authorizer threw", async () => {
    const outcomes: string[] = [];
    const observers = [({ outcome }: RequestEvent<string>) => void outcomes.push(outcome)];
    const throwing = (): never => {
      throw new Error("down");
    };
    await openClient(sampleServer({ observers })).askModern("tools/call", { name: "secret" });
    await openClient(sampleServer({ observers, authorize: throwing })).askModern("tools/call", { name: "secret" });
    await openClient(sampleServer({ observers })).askModern("tools/list");
    expect(outcomes).toEqual(["denied", "failure", "success"]);
  });
});
