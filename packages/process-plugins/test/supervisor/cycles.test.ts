import { mkdirSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import { scaledCount } from "../../../../fixtures/counts.js";
import { partTest } from "../../../../fixtures/parts.js";
import { createPluginSupervisor, type PluginEvent } from "../../src/index.js";
import { controlGroups, memoryLimit } from "../support/control-groups.js";
import { emptyFolder } from "../support/plugin-folder.js";
import { processesWith } from "../support/running-plugin.js";
import { shellPlugin } from "../support/shell-plugin.js";

const cycles = scaledCount("create-destroy cycles of 20 plugins at once", 500);
const many = 20;

const lines = (path: string): number => readFileSync(path, "utf8").split("\n").length;
const descriptors = (): number => readdirSync("/proc/self/fd").length;

partTest("bubblewrap")(
  "creating and destroying many plugins again and again leaves no process, mount, control group, descriptor or file",
  async () => {
    const data = emptyFolder();
    const folders = Array.from({ length: many }, (_, index) => shellPlugin(`smoke-${index}`));
    const instances = new Set<string>();
    const ended = { good: 0, other: [] as PluginEvent[] };
    const record = (event: PluginEvent): void => {
      if (event.type === "plugin.started") instances.add(event.instance);
      if (event.type !== "plugin.ended") return;
      if (event.reason === "destroyed" && event.confirmed && event.code === 0) ended.good += 1;
      else ended.other.push(event);
    };
    const limits = { confinement: { openFiles: 256, ...(await memoryLimit()) } };
    const names = folders.map((_, index) => `smoke-${index}`);
    const supervisor = createPluginSupervisor({
      plugins: names.map((name, index) => ({
        name,
        folder: folders[index] ?? "",
        dataFolder: join(data, name),
        limits,
      })),
      host: { name: "test", version: "1" },
      record,
    });
    mkdirSync(join(data, "beside"));
    const mounts = lines("/proc/self/mountinfo");
    let held: number | undefined;
    try {
      for (let cycle = 0; cycle < cycles; cycle += 1) {
        const running = await Promise.all(names.map((name) => supervisor.instance(name)));
        expect(new Set(running.map(({ id }) => id)).size).toBe(many);
        await Promise.all(names.map((name) => supervisor.stop(name)));
        held ??= descriptors(); // after the first cycle all that is kept is there
      }
      expect(descriptors()).toBeLessThanOrEqual((held ?? 0) + 2);
    } finally {
      await supervisor.close();
    }
    expect(ended.other).toEqual([]);
    expect(ended.good).toBe(cycles * many);
    expect(instances.size).toBe(cycles * many);
    expect(folders.map((folder) => processesWith(folder)).filter((count) => count > 0)).toEqual([]);
    expect(lines("/proc/self/mountinfo")).toBe(mounts);
    expect(controlGroups(`plugin-${process.pid}-`)).toEqual([]);
    for (const [index, folder] of folders.entries()) {
      expect(readdirSync(folder).sort()).toEqual(["bin", "plugin.json"]);
      expect(readdirSync(join(data, `smoke-${index}`)).sort()).toEqual(["home", "starts", "tmp"]);
      expect(lines(join(data, `smoke-${index}`, "starts")) - 1).toBe(cycles);
    }
  },
  3_600_000,
);
