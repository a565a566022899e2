import { chmodSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import {
  createPluginSupervisor,
  type PluginEvent,
  type PluginStanding,
  type PluginSupervisor,
  type SupervisedPlugin,
  type SupervisorOptions,
} from "../../src/index.js";
import { emptyFolder, pluginFolder } from "../support/plugin-folder.js";
import { rejection } from "../support/rejection.js";
import { processesWith } from "../support/running-plugin.js";
import { shellPlugin } from "../support/shell-plugin.js";

const open: PluginSupervisor[] = [];
afterEach(() => Promise.all(open.splice(0).map((supervisor) => supervisor.close())));

const host = { name: "test", version: "1" };
/** Unconfined, so that it runs everywhere: what a supervisor does is the same. */
const supervised = (name: string, folder: string, changes: Partial<SupervisedPlugin> = {}): SupervisedPlugin => ({
  name,
  folder,
  dataFolder: join(emptyFolder(), "data"),
  allowUnconfined: true,
  ...changes,
});

function supervise(plugins: readonly SupervisedPlugin[], changes: Partial<SupervisorOptions> = {}): PluginSupervisor {
  const supervisor = createPluginSupervisor({ plugins, host, ...changes });
  open.push(supervisor);
  return supervisor;
}

const standing = (supervisor: PluginSupervisor, name = "smoke"): PluginStanding | undefined =>
  supervisor.list().find((each) => each.name === name);

const startsIn = ({ dataFolder }: SupervisedPlugin): number => {
  const path = join(dataFolder, "starts");
  return existsSync(path) ? readFileSync(path, "utf8").trim().split("\n").length : 0;
};

describe("a supervised plugin", () => {
  it("starts when it is first asked for, once for all who ask at once", async () => {
    const plugin = supervised("smoke", shellPlugin());
    const supervisor = supervise([plugin]);
    expect(standing(supervisor)).toEqual({
      ...{ name: "smoke", state: "idle", instance: undefined, version: undefined, digest: undefined },
      ...{ confinement: undefined, crashes: 0, message: undefined },
    });
    const asking = Array.from({ length: 10 }, () => supervisor.instance("smoke"));
    expect(standing(supervisor)?.state).toBe("starting");
    const instances = new Set(await Promise.all(asking));
    expect(instances.size).toBe(1);
    const [instance] = instances;
    expect(await supervisor.instance("smoke")).toBe(instance);
    expect(standing(supervisor)).toMatchObject({
      state: "running",
      instance: instance?.id,
      version: "1.0.0",
      digest: expect.stringMatching(/^tree-v1:/),
      confinement: "unconfined",
    });
    expect(startsIn(plugin)).toBe(1);
  });

  it("that is stopped starts anew, and that is no crash", async () => {
    const plugin = supervised("smoke", shellPlugin());
    const supervisor = supervise([plugin]);
    const first = await supervisor.instance("smoke");
    await Promise.all([supervisor.stop("smoke"), supervisor.stop("smoke")]);
    expect(first.state).toBe("destroyed");
    expect(standing(supervisor)).toMatchObject({ state: "idle", crashes: 0, message: undefined });
    const second = await supervisor.instance("smoke");
    expect(second.id).not.toBe(first.id);
    expect(startsIn(plugin)).toBe(2);
  });

  it("that is asked for while it is being stopped is the next one", async () => {
    const supervisor = supervise([supervised("smoke", shellPlugin())]);
    const first = await supervisor.instance("smoke");
    const stopping = supervisor.stop("smoke");
    const next = await supervisor.instance("smoke");
    expect(next.id).not.toBe(first.id);
    expect(first.state).toBe("destroyed");
    await stopping;
    expect(next.state).toBe("running");
  });

  it("that its user closed or killed is no crash either", async () => {
    const supervisor = supervise([supervised("smoke", shellPlugin())]);
    await (await supervisor.instance("smoke")).close();
    await (await supervisor.instance("smoke")).kill();
    await supervisor.instance("smoke");
    expect(standing(supervisor)).toMatchObject({ state: "running", crashes: 0 });
  });

  it("that is stopped while it starts is ended, and those who wait are told", async () => {
    const folder = shellPlugin("smoke", { onCreate: "sleep 86400.31" });
    const supervisor = supervise([supervised("smoke", folder)]);
    const waiting = rejection(supervisor.instance("smoke"));
    await supervisor.stop("smoke");
    expect((await waiting).code).toBe("PLUGIN_NOT_RUNNING");
    expect(standing(supervisor)).toMatchObject({ state: "idle", crashes: 0 });
    expect(processesWith(folder)).toBe(0);
  });

  it("starts on for others when one who waits gives up", async () => {
    const plugin = supervised("smoke", shellPlugin());
    const supervisor = supervise([plugin]);
    const controller = new AbortController();
    const reason = new Error("enough");
    const first = supervisor.instance("smoke", { signal: controller.signal });
    const second = supervisor.instance("smoke");
    controller.abort(reason);
    await expect(first).rejects.toBe(reason);
    expect((await second).state).toBe("running");
    await expect(supervisor.instance("smoke", { signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
    expect(startsIn(plugin)).toBe(1);
  });

  it("that no one knows is told so", async () => {
    const supervisor = supervise([]);
    for (const name of ["smoke", "__proto__", ""]) {
      for (const ask of [supervisor.instance, supervisor.stop, supervisor.release])
        expect((await rejection(ask(name))).code).toBe("PLUGIN_UNKNOWN");
    }
  });

  it("has its log and its events under the host's name for it", async () => {
    const lines: string[] = [];
    const events: PluginEvent[] = [];
    const folder = shellPlugin("smoke", { onCreate: "echo hello >&2" });
    const supervisor = supervise([supervised("other-name", folder)], {
      onLog: (plugin, line) => void lines.push(`${plugin}: ${line.text}`),
      record: (event) => void events.push(event),
    });
    await supervisor.instance("other-name");
    await supervisor.stop("other-name");
    expect(lines).toEqual(["other-name: hello"]);
    expect(events.map(({ type, plugin }) => `${type} ${plugin}`)).toEqual(
      ["plugin.admitted", "plugin.started", "plugin.ended"].map((type) => `${type} other-name`),
    );
  });
});

describe("what was measured", () => {
  it("at the first start is what runs from then on", async () => {
    const events: PluginEvent[] = [];
    const folder = shellPlugin("smoke", { files: { lib: "1" } });
    const plugin = supervised("smoke", folder);
    const supervisor = supervise([plugin], { record: (event) => void events.push(event) });
    await supervisor.instance("smoke");
    const admitted = standing(supervisor)?.digest;
    await supervisor.stop("smoke");
    writeFileSync(join(folder, "lib"), "2");
    for (const _ of [1, 2]) expect((await rejection(supervisor.instance("smoke"))).code).toBe("PLUGIN_CHANGED");
    expect(standing(supervisor)).toMatchObject({ state: "rejected", digest: admitted, crashes: 0 });
    expect(events.filter(({ type }) => type === "plugin.rejected")).toHaveLength(2);
    expect(startsIn(plugin)).toBe(1);
    writeFileSync(join(folder, "lib"), "1");
    expect((await supervisor.instance("smoke")).state).toBe("running");
  });

  it("is held against what was admitted before the first start", async () => {
    const events: PluginEvent[] = [];
    const digest = `tree-v1:${"0".repeat(64)}`;
    const plugin = supervised("smoke", shellPlugin(), { digest });
    const supervisor = supervise([plugin], { record: (event) => void events.push(event) });
    expect(standing(supervisor)?.digest).toBe(digest);
    expect((await rejection(supervisor.instance("smoke"))).code).toBe("PLUGIN_CHANGED");
    expect(events).toEqual([
      {
        ...{ type: "plugin.rejected", plugin: "smoke", code: "PLUGIN_CHANGED", expected: digest },
        problems: [expect.stringContaining(digest)],
        measured: expect.stringMatching(/^tree-v1:/),
      },
    ]);
    expect(startsIn(plugin)).toBe(0);
  });

  it("is looked at again before each start: what others can change meanwhile is rejected", async () => {
    const folder = shellPlugin("smoke", { files: { lib: "1" } });
    const supervisor = supervise([supervised("smoke", folder)]);
    await supervisor.instance("smoke");
    await supervisor.stop("smoke");
    chmodSync(join(folder, "lib"), 0o666);
    const error = await rejection(supervisor.instance("smoke"));
    expect(error).toMatchObject({ code: "PLUGIN_REJECTED" });
    expect(error.problems).toEqual(["lib may be written by its group or by others (mode 0666)"]);
    expect(standing(supervisor)?.state).toBe("rejected");
  });

  it("and rejected is on record with every fault, and others run", async () => {
    const events: PluginEvent[] = [];
    const bad = pluginFolder("exit 0", { "plugin.json": "{}", open: { text: "", mode: 0o666 } });
    const plugins = [supervised("bad", bad), supervised("smoke", shellPlugin())];
    const supervisor = supervise(plugins, { record: (event) => void events.push(event) });
    const [error] = await Promise.all([rejection(supervisor.instance("bad")), supervisor.instance("smoke")]);
    expect(error.problems).toHaveLength(5);
    expect(events.find(({ plugin }) => plugin === "bad")).toMatchObject({
      type: "plugin.rejected",
      problems: error.problems,
    });
    expect(standing(supervisor, "bad")).toMatchObject({ state: "rejected", crashes: 0 });
    expect(standing(supervisor, "smoke")?.state).toBe("running");
  });

  it("is not started when that cannot be recorded", async () => {
    const plugin = supervised("smoke", shellPlugin());
    const supervisor = supervise([plugin, supervised("bad", pluginFolder("exit 0", { "plugin.json": "{}" }))], {
      record: () => Promise.reject(new Error("the disk is full")),
    });
    expect((await rejection(supervisor.instance("smoke"))).code).toBe("NOT_RECORDED");
    expect((await rejection(supervisor.instance("bad"))).code).toBe("NOT_RECORDED");
    expect(startsIn(plugin)).toBe(0);
    expect(standing(supervisor)).toMatchObject({ state: "failed", crashes: 0 });
  });
});

describe("closing", () => {
  it("ends all, also those that start, and nothing is started any more", async () => {
    const slow = shellPlugin("slow", { onCreate: "sleep 86400.32" });
    const plugins = [
      supervised("smoke", shellPlugin()),
      supervised("slow", slow),
      supervised("idle", shellPlugin("idle")),
    ];
    const supervisor = supervise(plugins);
    const instance = await supervisor.instance("smoke");
    const waiting = rejection(supervisor.instance("slow"));
    await Promise.all([supervisor.close(), supervisor.close()]);
    expect((await waiting).code).toBe("PLUGINS_CLOSED");
    expect(instance.state).toBe("destroyed");
    expect(processesWith(slow)).toBe(0);
    for (const ask of [supervisor.instance, supervisor.stop, supervisor.release])
      expect((await rejection(ask("smoke"))).code).toBe("PLUGINS_CLOSED");
    expect(supervisor.list().map(({ state }) => state)).toEqual(["idle", "idle", "idle"]);
    await supervisor[Symbol.asyncDispose]();
  });
});

describe("options", () => {
  const plugin = (changes: Partial<SupervisedPlugin>): SupervisorOptions => ({
    host,
    plugins: [{ name: "a", folder: "/a", dataFolder: "/d", ...changes }],
  });
  const two = (changes: Partial<SupervisedPlugin>): SupervisorOptions => ({
    host,
    plugins: [
      { name: "a", folder: "/a", dataFolder: "/d" },
      { name: "b", folder: "/a", dataFolder: "/e", ...changes },
    ],
  });
  it.each([
    { options: plugin({ name: "" }), words: "name" },
    { options: plugin({ name: "a\nb" }), words: "name" },
    { options: plugin({ folder: "a" }), words: "folder of a is no absolute path" },
    { options: plugin({ dataFolder: "a" }), words: "dataFolder of a is no absolute path" },
    { options: two({ name: "a" }), words: "a stands twice" },
    { options: two({ dataFolder: "/d" }), words: "the data folders of a and b lie in one another" },
    { options: two({ dataFolder: "/d/e" }), words: "the data folders of a and b lie in one another" },
    { options: two({ dataFolder: "/x/../" }), words: "the data folders of a and b lie in one another" },
    { options: two({ folder: "/d/b" }), words: "the folder of b and the data folder of a lie in one another" },
    {
      options: plugin({ dataFolder: "/a/data" }),
      words: "the folder of a and the data folder of a lie in one another",
    },
    { options: { ...plugin({}), maxCrashes: 0 }, words: "maxCrashes" },
    { options: { ...plugin({}), crashWindowMs: 999 }, words: "crashWindowMs" },
    { options: { ...plugin({}), maxStarts: 257 }, words: "maxStarts" },
    { options: { ...plugin({}), maxStarts: 1.5 }, words: "maxStarts" },
  ])("are refused: $words", ({ options, words }) => {
    expect(() => createPluginSupervisor(options)).toThrow(
      expect.objectContaining({ code: "OPTION_INVALID", message: expect.stringContaining(words) }),
    );
  });
});
