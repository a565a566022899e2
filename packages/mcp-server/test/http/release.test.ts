import { describe, expect, it, vi } from "vitest";
import type { EventSink } from "../../src/http/exchange.js";
import { readHttpBounds } from "../../src/http/limits.js";
import { createOpenStreams } from "../../src/http/open-streams.js";
import type { McpServer } from "../../src/index.js";
import { heldServer, until } from "../support/held.js";
import { call, frontEnds, modern, post, withHeaders } from "../support/http.js";

/** The same server, and how many of its connections are open. */
function counted(server: McpServer<string>): { readonly server: McpServer<string>; readonly open: Set<unknown> } {
  const open = new Set<unknown>();
  const openConnection: McpServer<string>["openConnection"] = (options) => {
    const connection = server.openConnection(options);
    const close = connection.close.bind(connection);
    open.add(connection);
    Object.assign(connection, {
      close(how: { farewell?: boolean }) {
        open.delete(connection);
        return close(how);
      },
    });
    return connection;
  };
  return { server: { ...server, openConnection }, open };
}

describe.each(frontEnds)("over $name", ({ start }) => {
  it("no connection of the server stays open when its request has ended, however it did", async () => {
    const { server: own, taken, outcomes } = heldServer();
    const { server, open } = counted(own);
    await using front = await start({ server, principal: "ada", limits: { drainMs: 20 } });
    await front.send(call("sum"));
    await front.send(call("breaks"));
    await front.send(call("none"));
    await front.send(modern("ping"));
    await front.send(call("tells", {}, { meta: { progressToken: 1 } }));
    await front.send(post({ jsonrpc: "2.0", id: 1, method: "ping" }, { "mcp-protocol-version": "2026-07-28" }));
    await front.send(withHeaders(call("sum"), { "mcp-method": undefined }));
    expect(open.size).toBe(0);
    const before = outcomes.length;
    const gone = front.begin(call("held"));
    const { release } = await taken();
    gone.leave();
    const listening = await front.open(modern("subscriptions/listen", { notifications: {} }, { id: 2 }));
    await listening.next();
    listening.leave();
    await until(() => outcomes.length === before + 1);
    release();
    await until(() => open.size === 0);
    const stuck = front.send(call("held"));
    const last = await taken();
    await front.close();
    expect((await stuck).status).toBe(503);
    expect(open.size).toBe(0);
    last.release();
  });
});

it("the clock of streams runs as long as one is open", () => {
  const set = vi.spyOn(globalThis, "setInterval");
  const clear = vi.spyOn(globalThis, "clearInterval");
  const sink: EventSink = { queuedBytes: 0, write() {}, end() {}, abort() {}, drained: () => Promise.resolve() };
  const other: EventSink = { ...sink };
  const streams = createOpenStreams(readHttpBounds({}));
  for (let round = 1; round <= 3; round += 1) {
    streams.add(sink);
    streams.add(other);
    streams.remove(sink);
    expect([set.mock.calls.length, clear.mock.calls.length]).toEqual([round, round - 1]);
    streams.remove(other);
    expect(clear.mock.calls.at(-1)).toEqual([set.mock.results.at(-1)?.value]);
    expect(clear.mock.calls.length).toBe(round);
  }
  vi.restoreAllMocks();
});
