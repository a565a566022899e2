import { describe, expect, it } from "vitest";
import { canonicalDefinition, inspectServer, type UpstreamConnection } from "../src/index.js";
import { createManualScheduler } from "./support/manual-scheduler.js";
import { introduction, openScripted, type Script, tool, toolServer } from "./support/scripted-server.js";

const options = { server: "s", clientInfo: { name: "pin", version: "1" } };
const everything: Script = {
  initialize: introduction({ tools: {}, prompts: {}, resources: {} }, { instructions: "be kind" }),
  "tools/list": ({ params }) =>
    params?.["cursor"] === undefined
      ? JSON.stringify({ tools: [tool("a")], nextCursor: "2" })
      : JSON.stringify({ tools: [tool("b")] }),
  "prompts/list": () => '{"prompts":[{"name":"p","title":"P"}]}',
  "resources/templates/list": () => '{"resourceTemplates":[{"uriTemplate":"u://{x}","name":"t"}]}',
};

describe("inspection of a server", () => {
  it("gives what it says of itself and all it offers, over all pages, in the form of pins, and ends it", async () => {
    const server = openScripted(everything);
    const inspection = await inspectServer(server.connection, options);
    expect(inspection.initialize).toEqual({
      protocolVersion: "2025-11-25",
      capabilities: '{"prompts":{},"resources":{},"tools":{}}',
      serverInfo: '{"name":"scripted","version":"1.0.0"}',
      instructions: "be kind",
    });
    expect(inspection.tools.map(({ name }) => name)).toEqual(["a", "b"]);
    expect(inspection.tools[0]?.definition).toBe(canonicalDefinition(JSON.stringify(tool("a"))));
    expect(inspection.prompts.map(({ name }) => name)).toEqual(["p"]);
    expect(inspection.resourceTemplates.map(({ name }) => name)).toEqual(["u://{x}"]);
    expect(inspection.problems).toEqual([]);
    expect(server.wasClosed).toBe(true);
  });

  it("does not ask for what the server has no capability for, and takes an unknown list as empty", async () => {
    const server = openScripted({ initialize: introduction({ prompts: {} }) });
    const inspection = await inspectServer(server.connection, options);
    expect(inspection).toMatchObject({ tools: [], prompts: [], resourceTemplates: [] });
    expect(server.received.map(({ message }) => message.method)).toEqual([
      "initialize",
      "notifications/initialized",
      "prompts/list",
    ]);
  });

  it("is made as a client that can do everything, so that no tool stays unseen", async () => {
    const server = openScripted({
      ...everything,
      "tools/list": () =>
        JSON.stringify({
          tools: Object.keys(server.received[0]?.message.params?.["capabilities"] ?? {}).map((name) => tool(name)),
        }),
    });
    const { tools } = await inspectServer(server.connection, options);
    expect(tools.map(({ name }) => name)).toEqual(["roots", "sampling", "elicitation", "tasks"]);
  });

  it("names what cannot be pinned", async () => {
    const list =
      '{"tools":[{"name":"twice"},{"name":"twice"},{"title":"nameless"},{"name":"odd","a":1,"a":2},{"name":"good"}]}';
    const server = openScripted(toolServer([], { "tools/list": () => list }));
    const { tools, problems } = await inspectServer(server.connection, options);
    expect(tools.map(({ name }) => name)).toEqual(["good"]);
    expect(problems).toHaveLength(4);
    expect(problems.join("\n")).toMatch(
      /1 of its tools have no name[\s\S]*"twice" is listed twice[\s\S]*"odd": member "a" occurs twice/,
    );
  });

  it("answers the server's ping, shows no roots and serves no other request", async () => {
    const server = openScripted({
      ...everything,
      initialize: (message, self) => {
        self.send({ jsonrpc: "2.0", id: "p", method: "ping" });
        self.send({ jsonrpc: "2.0", id: "r", method: "roots/list" });
        self.send({ jsonrpc: "2.0", id: "s", method: "sampling/createMessage", params: {} });
        return everything["initialize"]?.(message, self);
      },
    });
    await inspectServer(server.connection, options);
    const answers = server.received.filter(({ message }) => message.method === undefined).map(({ message }) => message);
    expect(answers).toMatchObject([
      { id: "p", result: {} },
      { id: "r", result: { roots: [] } },
      { id: "s", error: { code: -32601 } },
    ]);
  });

  it.each([
    { name: "refuses to initialize", script: {}, text: "refused to initialize (error -32601)" },
    {
      name: "speaks another revision",
      script: { initialize: () => '{"protocolVersion":"1"}' },
      text: 'it answered "1"',
    },
    {
      name: "names itself in a way that two readers may differ on",
      script: {
        initialize: () => '{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"a","name":"b"}}',
      },
      text: "occurs twice",
    },
    { name: "gives no list", script: { ...everything, "tools/list": () => "{}" }, text: "an answer without tools" },
  ])("fails when the server $name, says so, and closes it", async ({ script, text }) => {
    const server = openScripted(script);
    const failing = inspectServer(server.connection, options);
    await expect(failing).rejects.toMatchObject({ name: "RelayError", code: "SERVER_UNREADABLE" });
    await expect(failing).rejects.toThrow(text);
    expect(server.wasClosed).toBe(true);
  });

  it("ends at the deadline of a silent server, and at the signal with its reason", async () => {
    const scheduler = createManualScheduler();
    const silent = openScripted({ initialize: () => undefined });
    const late = inspectServer(silent.connection, { ...options, startMs: 100, scheduler });
    await silent.take(({ method }) => method === "initialize");
    scheduler.advance(100);
    await expect(late).rejects.toMatchObject({ code: "SERVER_UNREADABLE" });
    const aborted = openScripted({ initialize: () => undefined });
    const controller = new AbortController();
    const waiting = inspectServer(aborted.connection, { ...options, signal: controller.signal });
    const reason = new Error("enough");
    controller.abort(reason);
    await expect(waiting).rejects.toBe(reason);
    expect([silent.wasClosed, aborted.wasClosed]).toEqual([true, true]);
  });

  it("passes on why the second look refused it", async () => {
    const refusal = Object.assign(new Error("changed meanwhile"), { reason: "TARGET_CHANGED" });
    const server = openScripted(everything);
    const connection: UpstreamConnection = { ...server.connection, recheck: () => Promise.reject(refusal) };
    await expect(inspectServer(connection, options)).rejects.toBe(refusal);
    expect(server.wasClosed).toBe(true);
  });
});
