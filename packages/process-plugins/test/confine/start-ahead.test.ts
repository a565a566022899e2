import { cpSync, readdirSync, readFileSync, renameSync } from "node:fs";
import { join } from "node:path";
import { openSandbox, type SandboxOptions } from "@berth/process-confinement";
import type { Launch } from "@berth/spawn-attestation";
import { describe, expect } from "vitest";
import { partTest } from "../../../../fixtures/parts.js";
import { type AheadOptions, startAhead } from "../../src/confine/start-ahead.js";
import { inspectPlugin } from "../../src/tree/inspect-plugin.js";
import { emptyFolder, fill, pluginFolder, script } from "../support/plugin-folder.js";
import { outputOf, processesWith } from "../support/running-plugin.js";

const it = partTest("bubblewrap");

interface Place {
  readonly folder: string;
  readonly options: AheadOptions;
  readonly launch: Launch;
  /** Sandboxes that were asked for. */
  readonly opened: () => number;
  /** Resolves when the first sandbox is up and waits. */
  readonly up: Promise<void>;
}

/** A plugin that says which one it is, and leaves a mark in its data folder. */
const saying = (word: string): string => `echo ${word}; : >"$PLUGIN_DATA/ran-${word}"`;

async function place(refuse = 0): Promise<Place> {
  const folder = pluginFolder(saying("good"));
  const plugin = await inspectPlugin(folder);
  let count = 0;
  let isUp = (): void => {};
  const up = new Promise<void>((resolve) => {
    isUp = resolve;
  });
  const open = (options: SandboxOptions): ReturnType<typeof openSandbox> => {
    count += 1;
    if (count <= refuse) return Promise.reject(new Error("not this time"));
    const record: SandboxOptions["record"] = async (identity, gate) => {
      isUp();
      await options.record?.(identity, gate);
    };
    return openSandbox({ ...options, record });
  };
  const options = { plugin, dataFolder: join(emptyFolder(), "data"), openSandbox: open };
  const launch = { file: plugin.executable, argv0: plugin.executable, args: [], env: {}, cwd: plugin.root };
  return { folder, options, launch, opened: () => count, up };
}

/** Of what is compared once more, where nothing was changed. */
const unchanged = async (): Promise<void> => {};

/** Puts another folder at a plugin's path, and gives back where the first one is. */
function replace(folder: string, by: string): string {
  const moved = join(emptyFolder(), "moved");
  renameSync(folder, moved);
  renameSync(by, folder);
  return moved;
}

describe("a sandbox that is made ahead", () => {
  it("runs nothing of the plugin before it is let go, and then the plugin", async () => {
    const { options, launch, opened, up } = await place();
    const ahead = startAhead(options);
    await up;
    const process = await ahead.letGo(launch, unchanged);
    expect((await outputOf(process)).out).toBe("good\n");
    await process.kill();
    await ahead.drop();
    expect(opened()).toBe(1);
  });

  it("that is dropped leaves nothing, and ran nothing", async () => {
    const { folder, options, up } = await place();
    const ahead = startAhead(options);
    await up;
    expect(processesWith(folder)).toBeGreaterThan(0);
    await ahead.drop();
    expect(processesWith(folder)).toBe(0);
    expect(readdirSync(options.dataFolder).sort()).toEqual(["home", "tmp"]);
  });

  it("that could not be made is made when it is let go", async () => {
    const { options, launch, opened } = await place(1);
    const process = await startAhead(options).letGo(launch, unchanged);
    expect((await outputOf(process)).out).toBe("good\n");
    await process.kill();
    expect(opened()).toBe(2);
  });

  it("that can never be made tells so when it is let go", async () => {
    const { options, launch } = await place(2);
    await expect(startAhead(options).letGo(launch, unchanged)).rejects.toThrow("not this time");
  });

  it("of another command than was admitted is not used", async () => {
    const { folder, options, launch, opened, up } = await place();
    fill(folder, { "bin/other": script(saying("other")) });
    const ahead = startAhead(options);
    await up;
    const process = await ahead.letGo({ ...launch, file: join(folder, "bin/other") }, unchanged);
    expect((await outputOf(process)).out).toBe("other\n");
    await process.kill();
    expect(opened()).toBe(2);
  });

  it("does not run the folder that was at the plugin's path when it was made, but the one that was admitted", async () => {
    const { folder, options, launch, opened, up } = await place();
    const good = join(emptyFolder(), "good");
    cpSync(folder, good, { recursive: true });
    fill(folder, { "bin/plugin": script(saying("evil")) });
    const ahead = startAhead(options);
    await up;
    replace(folder, good);
    const process = await ahead.letGo(launch, unchanged);
    expect((await outputOf(process)).out).toBe("good\n");
    await process.kill();
    expect(opened()).toBe(2);
  });

  it("does not run another folder that was put there after the plugin was admitted, ahead or not", async () => {
    for (const refuse of [0, 1]) {
      const { folder, options, launch, up } = await place(refuse);
      const evil = join(emptyFolder(), "evil");
      cpSync(folder, evil, { recursive: true });
      fill(evil, { "bin/plugin": script(saying("evil")) });
      const ahead = startAhead(options);
      if (refuse === 0) await up;
      replace(folder, evil);
      const recheck = async (): Promise<void> => {
        if (readFileSync(launch.file, "utf8").includes("evil")) throw new Error("it was changed");
      };
      await expect(ahead.letGo(launch, recheck)).rejects.toThrow("it was changed");
      expect(readdirSync(options.dataFolder).sort()).toEqual(["home", "tmp"]);
      expect(processesWith(folder)).toBe(0);
    }
  });

  it("compares the folder after it was bound, however the sandbox was made", async () => {
    for (const refuse of [0, 1]) {
      const { options, launch, opened } = await place(refuse);
      const openedThen: number[] = [];
      const process = await startAhead(options).letGo(launch, async () => void openedThen.push(opened()));
      await process.kill();
      expect(openedThen).toEqual([refuse + 1]);
    }
  });
});
