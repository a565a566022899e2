import { join } from "node:path";
import { createPluginSupervisor, type PluginEvent } from "@berth/process-plugins";
import { beforeAll, expect } from "vitest";
import { partTest } from "../../../fixtures/parts.js";
import { createMcpHalf } from "../src/process/mcp-halves.js";
import { ownMeta } from "../src/process/request-meta.js";
import { crashTerms, watchPlugins } from "../src/process/watch-plugins.js";
import { makeProcessWorld } from "./process-world.js";
import { rawPlugin } from "./raw-plugin.js";

// In this process: how long a plugin is waited for is then that of the test.
const world = makeProcessWorld();
/** Answers nothing once it was asked to hang, not even to stop. */
const hanging = `
def tools(request): complete(request, "")
def call(request, name, params):
    if name == "hang":
        for line in lines: pass
    else: complete(request, "fine")
`;

beforeAll(() => {
  world.executable("hanging", rawPlugin("hanging", hanging));
});

partTest("bubblewrap", "python3")(
  "a plugin that answers no call is ended after the third in a row, counts it as an end of its own, and the next call has a new one",
  async () => {
    const plugins = [
      {
        name: "yaml",
        folder: join(world.folder, "hanging"),
        dataFolder: join(world.folder, "data"),
        timeouts: { callMs: 300, stopMs: 100, exitMs: 100, terminateMs: 100 },
      },
    ];
    const told: string[] = [];
    const tell = (_about: object, text: string): void => void told.push(text);
    const logger = { warn: tell, error: tell };
    const events: PluginEvent[] = [];
    const host = { name: "test", version: "1" };
    const record = (event: PluginEvent): void => void events.push(event);
    await using held = createPluginSupervisor({ plugins, host, record, ...crashTerms });
    const watch = watchPlugins({ supervisor: held, plugins, logger });
    const half = createMcpHalf("yaml", { supervisor: watch.supervisor, watch });
    const call = (name: string): Promise<unknown> =>
      half.request({ method: "tools/call", params: { name, arguments: {}, _meta: ownMeta() } });
    for (let silence = 1; silence <= 3; silence += 1)
      await expect(call("hang")).rejects.toMatchObject({ data: { reason: "PLUGIN_TIMEOUT" } });
    expect(await call("say")).toMatchObject({ content: [{ text: "fine" }] });
    expect(told).toEqual([
      "plugin yaml gave no answer in time to 3 calls in a row: it is ended",
      expect.stringMatching(/^plugin yaml ended: it .*; the next call starts it again, 1 of 3 within 60 s$/u),
    ]);
    expect(events.map(({ type }) => type)).toEqual([
      ...["plugin.admitted", "plugin.started", "plugin.ended", "plugin.admitted", "plugin.started"],
    ]);
  },
  60_000,
);
