import {
  chmodSync,
  chownSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import { partTest } from "../../../../fixtures/parts.js";
import { prepareDataFolder } from "../../src/confine/data-folder.js";
import type { InspectedPlugin } from "../../src/index.js";
import { inspectPlugin } from "../../src/tree/inspect-plugin.js";
import { emptyFolder, pluginFolder } from "../support/plugin-folder.js";
import { rejection } from "../support/rejection.js";

let plugin: InspectedPlugin;
beforeEach(async () => {
  plugin = await inspectPlugin(pluginFolder());
});

describe("a data folder", () => {
  it("is made with what lies above, for this user alone, with home and tmp in it", async () => {
    const folder = join(emptyFolder(), "a/b");
    expect(await prepareDataFolder(`${folder}/`, plugin)).toBe(folder);
    expect(readdirSync(folder).sort()).toEqual(["home", "tmp"]);
    for (const path of [folder, join(folder, "home"), join(folder, "tmp")])
      expect(statSync(path).mode & 0o7777).toBe(0o700);
  });

  it("that is there is taken as it is, with what is in it", async () => {
    const folder = emptyFolder();
    writeFileSync(join(folder, "note"), "");
    symlinkSync("/etc/passwd", join(folder, "link"));
    expect(await prepareDataFolder(folder, plugin)).toBe(folder);
    expect(await prepareDataFolder(folder, plugin)).toBe(folder);
    expect(readdirSync(folder).sort()).toEqual(["home", "link", "note", "tmp"]);
  });

  it("below a link of the operator's is the one that it leads to", async () => {
    const real = emptyFolder();
    const link = join(emptyFolder(), "link");
    symlinkSync(real, link);
    expect(await prepareDataFolder(join(link, "data"), plugin)).toBe(join(real, "data"));
  });

  it.each([
    { name: "is no absolute path", make: () => "data" },
    { name: "is the root of the file system", make: () => "/x/.." },
    { name: "is a link or a file", make: () => linkTo(emptyFolder()) },
    { name: "is a link or a file", make: () => linkTo("/no/such/folder") },
    { name: "is a link or a file", make: () => join(file(), "file") },
    { name: "cannot be made", make: () => join(file(), "file", "data") },
    { name: "lie in one another", make: () => plugin.root },
    { name: "lie in one another", make: () => join(plugin.root, "data") },
    { name: "lie in one another", make: () => join(plugin.root, "..") },
    { name: "lie in one another", make: () => join(linkTo(plugin.root), "data") },
    { name: "may be written by its group or by others", make: () => open(0o770) },
    { name: "may be written by its group or by others", make: () => open(0o1777) },
  ])("that $name is refused", async ({ name, make }) => {
    const error = await rejection(prepareDataFolder(make(), plugin));
    expect(error).toMatchObject({ code: "OPTION_INVALID", plugin: "smoke" });
    expect(error.message).toContain(name);
    expect(readdirSync(plugin.root).sort()).toEqual(["bin", "plugin.json"]);
  });

  it("below a folder in which others could exchange it is refused", async () => {
    const above = emptyFolder();
    chmodSync(above, 0o777);
    const error = await rejection(prepareDataFolder(join(above, "a/data"), plugin));
    expect(error.code).toBe("OPTION_INVALID");
    expect(error.message).toContain(`${above}, in which the folder lies, may be written`);
    chmodSync(above, 0o1777);
    expect(await prepareDataFolder(join(above, "a/data"), plugin)).toBe(join(above, "a/data"));
  });

  partTest("ordinary-user")("that belongs to another user is refused", async () => {
    const folder = emptyFolder();
    chownSync(folder, 65_534, 0);
    const error = await rejection(prepareDataFolder(folder, plugin));
    expect(error.message).toContain("belongs to the user 65534");
  });

  it.each(["home", "tmp"])(
    "in which the plugin put a link in the place of %s is refused, and the link is not followed",
    async (name) => {
      const folder = emptyFolder();
      const secrets = emptyFolder();
      for (const target of [secrets, join(secrets, "made"), "/no/such/place"]) {
        symlinkSync(target, join(folder, name));
        const error = await rejection(prepareDataFolder(folder, plugin));
        expect(error).toMatchObject({ code: "PLUGIN_NOT_STARTED", plugin: "smoke" });
        expect(error.message).toBe(`${join(folder, name)}, which the plugin may write, is a link or a file`);
        expect(readdirSync(secrets)).toEqual([]);
        expect(lstatSync(join(folder, name)).isSymbolicLink()).toBe(true);
        rmSync(join(folder, name));
      }
      mkdirSync(join(folder, name), { recursive: true });
      chmodSync(join(folder, name), 0o777);
      expect((await rejection(prepareDataFolder(folder, plugin))).message).toContain("may be written");
    },
  );
});

function linkTo(target: string): string {
  const link = join(emptyFolder(), "link");
  symlinkSync(target, link);
  return link;
}

function file(): string {
  const folder = emptyFolder();
  writeFileSync(join(folder, "file"), "");
  return folder;
}

function open(mode: number): string {
  const folder = emptyFolder();
  chmodSync(folder, mode);
  return folder;
}
