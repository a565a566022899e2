import { existsSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "vitest";
import { partTest } from "../../../fixtures/parts.js";
import { gateway, logEntries } from "./gateway.js";
import { entryOf, pluginPlace } from "./plugin-place.js";

partTest("python3-venv")(
  "a call that is cancelled while a plugin is asked does not leave, whatever the plugin answers later",
  async () => {
    // So long that the plugin is certainly still asked when everything below has been looked at.
    const guard = entryOf("Guard").replace("timeout_secs: 5", "timeout_secs: 600");
    await using place = await pluginPlace({ guard }, "{ plugin_timeout: 600 }");
    await using gate = await place.open();
    const strays: Error[] = [];
    gate.client.onerror = (error) => strays.push(error);
    const there = (name: string): boolean => existsSync(join(place.folder, name));
    const bound = { timeout: 60_000, interval: 100 };

    const ending = new AbortController();
    const waiting = { name: "echo", arguments: { what: "wait", at: place.folder } };
    const cancelled = gate.client.callTool(waiting, undefined, { signal: ending.signal, timeout: 600_000 });
    const rejected = expect(cancelled).rejects.toThrow("enough");
    await expect.poll(() => there("asked"), bound).toBe(true);
    ending.abort("enough");
    await rejected;

    // Its wait is over although the plugin has not answered: the log says so before it may.
    const takenBack = async (): Promise<unknown> =>
      (await logEntries(place.state)).filter(({ type }) => type === "call.cancelled");
    await expect
      .poll(takenBack, bound)
      .toMatchObject([{ tool: "echo", method: "tools/call", request: expect.any(String) }]);
    expect(there("answers")).toBe(false);

    await writeFile(join(place.folder, "go"), "");
    // The plugin works on one call at a time, so this one is asked about after the late answer.
    const next = await gate.client.callTool({ name: "echo", arguments: { text: "the next" } });
    expect(JSON.stringify(next)).toContain("the next");
    expect(there("answers")).toBe(true);
    expect(JSON.stringify(await gate.client.callTool({ name: "count" }))).toContain("called 2 times");
    expect(strays).toEqual([]);
    await gate.close();

    const entries = await logEntries(place.state);
    const of = (...types: readonly string[]) => entries.filter(({ type }) => types.includes(String(type)));
    expect(of("call.cancelled", "call.intent", "call.refused").map(({ type, tool }) => [type, tool])).toEqual([
      ["call.cancelled", "echo"],
      ["call.intent", "echo"],
      ["call.intent", "count"],
    ]);
    const { request } = of("call.cancelled")[0] ?? {};
    expect(of("hook.decision").filter((decision) => decision["request"] === request)).toEqual([]);
    expect(await gateway(["audit", "verify", "--state", place.state])).toMatchObject({ code: 0 });
  },
  240_000,
);
