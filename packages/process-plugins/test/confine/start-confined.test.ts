import { execFileSync, spawnSync } from "node:child_process";
import { chmodSync, copyFileSync, mkdirSync, realpathSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect } from "vitest";
import { partTest } from "../../../../fixtures/parts.js";
import { visibleTrees } from "../../src/confine/visible-trees.js";
import { inspectPlugin } from "../../src/tree/inspect-plugin.js";
import { emptyFolder, fill, manifestText, pluginFolder, script } from "../support/plugin-folder.js";
import { rejection } from "../support/rejection.js";
import { type Changes, outputOf, startPlugin } from "../support/running-plugin.js";

const it = partTest("bubblewrap");
const compiler = "cc";

/** A folder with a file, and a plugin that tries to read it. */
function withSecret(): { readonly secrets: string; readonly folder: string } {
  const secrets = fill(emptyFolder(), { key: "SECRET" });
  return { secrets, folder: pluginFolder(`cat ${secrets}/key; ls ${secrets}; echo over`) };
}

/** An interpreter outside of /usr. */
function ownShell(): string {
  const path = join(emptyFolder(), "shell");
  copyFileSync("/bin/sh", path);
  chmodSync(path, 0o755);
  return path;
}

describe("a confined plugin", () => {
  it("cannot write its own folder, nor anything but its data folder and /tmp", async () => {
    const folder = pluginFolder(
      'for f in "$PLUGIN_ROOT/x" "$0" /usr/x /x /etc/x /plugin-data/x /tmp/x "$HOME/x"; do (: >>"$f") 2>/dev/null && echo "$f"; done; exit 0',
    );
    expect((await outputOf(await startPlugin(folder))).out).toBe("/plugin-data/x\n/tmp/x\n/plugin-data/home/x\n");
  });

  it("does not see a file of the machine; with readOnly it does", async () => {
    const { secrets, folder } = withSecret();
    expect((await outputOf(await startPlugin(folder))).out).toBe("over\n");
    expect((await outputOf(await startPlugin(folder, "unconfined"))).out).toBe("SECRETkey\nover\n");
    expect((await outputOf(await startPlugin(folder, "confined", { readOnly: [secrets] }))).out).toBe(
      "SECRETkey\nover\n",
    );
  });

  it("does not see by a link in its data folder what it did not see before", async () => {
    const { secrets } = withSecret();
    const dataFolder = emptyFolder();
    symlinkSync(secrets, join(dataFolder, "planted"));
    const folder = pluginFolder('cat "$PLUGIN_DATA/planted/key" 2>&1');
    expect((await outputOf(await startPlugin(folder, "confined", { dataFolder }))).out).toContain("No such file");
  });

  it("has a loopback of its own and no other network", async () => {
    const folder = pluginFolder("sed -n '3,$s/:.*//p' /proc/net/dev; wc -l </proc/net/route");
    expect((await outputOf(await startPlugin(folder))).out.replaceAll(" ", "")).toBe("lo\n1\n");
  });

  it("tells what holds each limit, and is bounded by it", async () => {
    const limits = { openFiles: 64, fileBytes: 4_096 };
    const folder = pluginFolder(
      'ulimit -n; head -c 8192 /dev/zero >"$PLUGIN_DATA/x" 2>/dev/null; wc -c <"$PLUGIN_DATA/x"',
    );
    const plugin = await startPlugin(folder, "confined", { limits });
    expect(plugin.enforced).toEqual([
      "fileBytes 4096 by rlimit",
      "openFiles 64 by rlimit",
      "tmpBytes 67108864 by memory-file-system",
    ]);
    expect((await outputOf(plugin)).out.split(/\s+/)).toEqual(["64", "4096", ""]);
  });

  it("that writes more than outputBytes is ended with that reason", async () => {
    const plugin = await startPlugin(pluginFolder("yes"), "confined", { limits: { outputBytes: 4_096 } });
    plugin.stdout.resume();
    expect(await plugin.exited).toMatchObject({ reason: "output" });
  });

  it("is refused with a path that is none, or that would hide something, and with a limit out of its range", async () => {
    const refused: readonly Changes[] = [
      { readOnly: ["relative"] },
      { readOnly: ["/no/such/thing"] },
      { readOnly: ["/"] },
      { readOnly: ["/plugin-data"] },
      { interpreters: ["python3"] },
      { interpreters: ["/no/such/python3"] },
      { limits: { openFiles: 1 } },
    ];
    for (const changes of refused) {
      const error = await rejection(startPlugin(pluginFolder(), "confined", changes));
      expect({ changes, code: error.code }).toEqual({ changes, code: "OPTION_INVALID" });
    }
  });
});

describe("an interpreter", () => {
  it("outside of /usr is there only when the operator named it, and the refusal says how", async () => {
    const shell = ownShell();
    const folder = pluginFolder(`#!${shell}\necho ran\n`);
    const error = await rejection(startPlugin(folder));
    expect(error).toMatchObject({ code: "PLUGIN_NOT_STARTED", plugin: "smoke" });
    expect(error.advice).toContain(`name ${shell} in interpreters`);
    expect((await outputOf(await startPlugin(folder, "confined", { interpreters: [shell] }))).out).toBe("ran\n");
    expect((await outputOf(await startPlugin(folder, "confined", { readOnly: [join(shell, "..")] }))).out).toBe(
      "ran\n",
    );
  });

  it("that is named as a file shows that file alone; as a folder, the folder", async () => {
    const shell = ownShell();
    const beside = join(shell, "../beside");
    writeFileSync(beside, "SECRET");
    const folder = pluginFolder(`cat ${beside} 2>/dev/null; echo over`);
    expect((await outputOf(await startPlugin(folder, "confined", { interpreters: [shell] }))).out).toBe("over\n");
    const named = { interpreters: [join(shell, "..")] };
    expect((await outputOf(await startPlugin(folder, "confined", named))).out).toBe("SECRETover\n");
  });

  it("that is reached by a link is there by its own name and by the one that it leads to", async () => {
    const shell = ownShell();
    const link = join(emptyFolder(), "link");
    symlinkSync(shell, link);
    const folder = pluginFolder(`#!${link}\ntest -x ${shell} && echo ran\n`);
    expect((await rejection(startPlugin(folder, "confined", { readOnly: [join(link, "..")] }))).code).toBe(
      "PLUGIN_NOT_STARTED",
    );
    expect((await outputOf(await startPlugin(folder, "confined", { interpreters: [link] }))).out).toBe("ran\n");
  });

  it("of the system is run through env, too", async () => {
    const folder = pluginFolder("#!/usr/bin/env sh\necho ran\n");
    expect((await outputOf(await startPlugin(folder))).out).toBe("ran\n");
  });

  it("inside the plugin's folder is there with it", async () => {
    const folder = emptyFolder();
    fill(folder, { "plugin.json": manifestText(), "bin/plugin": script(`#!${folder}/bin/shell\necho ran\n`) });
    copyFileSync("/bin/sh", join(folder, "bin/shell"));
    chmodSync(join(folder, "bin/shell"), 0o755);
    expect((await outputOf(await startPlugin(folder))).out).toBe("ran\n");
  });

  partTest("bubblewrap", "python3-venv")("that is a virtual environment shows it and its base", async () => {
    const environment = join(emptyFolder(), "venv");
    execFileSync("python3", ["-m", "venv", "--without-pip", environment]);
    const folder = pluginFolder(`#!${environment}/bin/python3\nimport sys; print(sys.prefix)\n`);
    const plugin = await startPlugin(folder, "confined", { interpreters: [`${environment}/bin/python3`] });
    expect(await outputOf(plugin)).toEqual({ out: `${environment}\n`, err: "" });
  });

  it("is no way to see more: a plugin's own #! line, or its library path, shows it nothing", async ({ skip }) => {
    const { secrets } = withSecret();
    if (spawnSync(compiler, ["--version"]).status !== 0) skip("needs a C compiler");
    const source = join(emptyFolder(), "reader.c");
    writeFileSync(
      source,
      `#include <stdio.h>
      int main(void) { char b[16] = ""; FILE *f = fopen("${secrets}/key", "r"); puts(f ? fgets(b, 16, f) : "nothing"); return 0; }`,
    );
    const folder = fill(emptyFolder(), { "plugin.json": manifestText(), "bin/": "" });
    execFileSync(compiler, ["-o", join(folder, "bin/plugin"), `-Wl,-rpath,${secrets}`, source]);
    chmodSync(join(folder, "bin/plugin"), 0o755);
    expect((await outputOf(await startPlugin(folder))).out).toBe("nothing\n");
    expect((await outputOf(await startPlugin(folder, "unconfined"))).out).toBe("SECRET\n");
  });
});

describe("what is shown", () => {
  it("are places of which none lies in another, without those of the system", async () => {
    const plugin = await inspectPlugin(pluginFolder());
    const above = realpathSync(join(plugin.root, ".."));
    const trees = (readOnly: readonly string[]): readonly string[] => visibleTrees({ plugin, readOnly });
    expect(trees([])).toEqual([plugin.root]);
    expect(trees([join(plugin.root, "bin"), plugin.root])).toEqual([plugin.root]);
    expect(trees([above])).toEqual([above]);
    expect(trees(["/opt/a/b", "/opt/a", "/opt/ab", "/usr/share", "/usr", "/lib/x", "/opt/a/"])).toEqual([
      plugin.root,
      "/opt/a",
      "/opt/ab",
    ]);
  });

  it("is the plugin's folder when it lies in one that was named, and it still runs", async () => {
    const above = emptyFolder();
    mkdirSync(join(above, "plugin"), { mode: 0o755 });
    const folder = fill(join(above, "plugin"), { "plugin.json": manifestText(), "bin/plugin": script("ls ..") });
    expect((await outputOf(await startPlugin(folder, "confined", { readOnly: [above] }))).out).toBe("plugin\n");
  });
});
