import { describe, expect, it } from "vitest";
import { errorOf, openClient, resultOf } from "../support/client.js";
import { notes } from "../support/notes.js";
import { sampleServer } from "../support/sample.js";

const key = "io.modelcontextprotocol/subscriptionId";
const all = {
  toolsListChanged: true,
  resourcesListChanged: false,
  resourceSubscriptions: ["note:///1", "note:///secret", "note:///absent"],
};

describe("subscriptions/listen", () => {
  it("acknowledges what it honours, tells that and nothing else, and ends by cancellation without an answer", async () => {
    const server = sampleServer(notes);
    const client = openClient(server);
    const answer = client.askModern("subscriptions/listen", { notifications: all });
    await new Promise(setImmediate);
    for (const kind of ["tools", "prompts", "resources"] as const) server.listChanged(kind);
    for (const uri of ["note:///1", "note:///secret"]) server.resourceUpdated(uri);
    expect(client.sent.splice(0)).toEqual([
      {
        jsonrpc: "2.0",
        method: "notifications/subscriptions/acknowledged",
        params: {
          notifications: { toolsListChanged: true, resourceSubscriptions: ["note:///1"] },
          _meta: { [key]: 1 },
        },
      },
      { jsonrpc: "2.0", method: "notifications/tools/list_changed", params: { _meta: { [key]: 1 } } },
      { jsonrpc: "2.0", method: "notifications/resources/updated", params: { uri: "note:///1", _meta: { [key]: 1 } } },
    ]);
    await client.notify("notifications/cancelled", { requestId: 1 });
    expect(await answer).toBeUndefined();
    server.listChanged("tools");
    expect(client.sent).toEqual([]);
  });

  it("ends with a cancellation notice and then the answer, when the server says farewell", async () => {
    const client = openClient(sampleServer());
    const answer = client.askModern("subscriptions/listen", { notifications: { toolsListChanged: true } });
    await new Promise(setImmediate);
    await client.connection.close({ farewell: true });
    expect(client.sent.at(-1)).toEqual({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 1 } });
    expect(resultOf(await answer)).toMatchObject({ resultType: "complete", _meta: { [key]: 1 } });
  });

  it("is bounded, and needs to be asked for something", async () => {
    const client = openClient(sampleServer({ limits: { maxSubscriptions: 1 } }));
    void client.askModern("subscriptions/listen", { notifications: {} });
    await new Promise(setImmediate);
    expect(errorOf(await client.askModern("subscriptions/listen", { notifications: {} })).code).toBe(-32602);
    expect(errorOf(await client.askModern("subscriptions/listen")).code).toBe(-32602);
    await client.connection.close();
  });

  it("is bounded also when many begin while the authorizer thinks, as resources/subscribe is", async () => {
    const authorize = async (): Promise<boolean> => {
      await new Promise(setImmediate);
      return true;
    };
    const client = openClient(sampleServer({ ...notes, authorize, limits: { maxSubscriptions: 2 } }));
    const notifications = { resourceSubscriptions: ["note:///1"] };
    const listening = Array.from({ length: 5 }, () => client.askModern("subscriptions/listen", { notifications }));
    const refused = await Promise.all(listening.slice(2).map(async (one) => errorOf(await one).code));
    expect(refused).toEqual([-32602, -32602, -32602]);
    expect(client.sent.length).toBe(2);
    await client.connection.close();
    const legacy = openClient(sampleServer({ ...notes, authorize, limits: { maxSubscriptions: 2 } }));
    await legacy.initialize();
    const uris = ["note:///1", "note:///blob", "note:///gone", "note:///secret"];
    const answers = await Promise.all(uris.map((uri) => legacy.ask("resources/subscribe", { uri })));
    expect(answers.map((answer) => answer !== undefined && "error" in answer)).toEqual([false, false, true, true]);
  });

  it("is not needed by legacy clients, who hear of every change", async () => {
    const server = sampleServer();
    const [legacy, modern] = [openClient(server), openClient(server)];
    await legacy.initialize();
    await modern.askModern("server/discover");
    server.listChanged("tools");
    expect(legacy.sent).toEqual([{ jsonrpc: "2.0", method: "notifications/tools/list_changed" }]);
    expect(modern.sent).toEqual([]);
  });
});
