import { existsSync, readFileSync, realpathSync, statSync } from "node:fs";
import { join } from "node:path";
import { describe, expect } from "vitest";
import { partTest } from "../../../../fixtures/parts.js";
import { emptyFolder, pluginFolder } from "../support/plugin-folder.js";
import { firstLine, outputOf, processesWith, startPlugin, type Way } from "../support/running-plugin.js";

const it = partTest("bubblewrap");
const ways: readonly { readonly way: Way }[] = [{ way: "confined" }, { way: "unconfined" }];

/** A time that no other process of this machine sleeps for. */
let naps = 0;
function uniqueNap(): string {
  naps += 1;
  return `86400.${process.pid}${naps}`;
}

describe.each(ways)("the process of a plugin, $way", ({ way }) => {
  it("runs the executable with the manifest's arguments in the plugin's folder", async () => {
    const folder = pluginFolder('printf "%s|" "$PWD" "$0" "$@"; cat', {
      "plugin.json": JSON.stringify({
        name: "smoke",
        version: "1.0.0",
        protocol: 1,
        process: { command: "./bin/plugin", args: ["a b", "", "$HOME", "--", "-x"] },
      }),
    });
    const plugin = await startPlugin(folder, way);
    plugin.stdin.write("from the host");
    plugin.endInput();
    const { out, err } = await outputOf(plugin);
    expect(out).toBe(`${folder}|${folder}/bin/plugin|a b||$HOME|--|-x|from the host`);
    expect(err).toBe("");
    expect(await plugin.exited).toEqual({ code: 0, signal: undefined, reason: "exited" });
  });

  it("has the listed environment and nothing else", async () => {
    process.env["BERTH_TEST_SECRET"] = "x";
    const dataFolder = join(emptyFolder(), "data");
    const plugin = await startPlugin(pluginFolder("exec env"), way, { dataFolder });
    delete process.env["BERTH_TEST_SECRET"];
    const seen = plugin.confinement === "bubblewrap" ? "/plugin-data" : dataFolder;
    const lines = (await outputOf(plugin)).out.trim().split("\n").sort();
    expect(lines.filter((line) => !/^(?:PWD|PATH|PLUGIN_ROOT)=/.test(line))).toEqual(
      [
        "AVE_PROTOCOL=1",
        `HOME=${seen}/home`,
        "LANG=C.UTF-8",
        "LC_ALL=C.UTF-8",
        `PLUGIN_DATA=${seen}`,
        "PLUGIN_NAME=smoke",
        `TMPDIR=${seen}/tmp`,
        "TZ=UTC",
      ].sort(),
    );
  });

  it("has a data folder, with a home and a place for temporary files, that stays", async () => {
    const dataFolder = join(emptyFolder(), "a/b/data");
    const folder = pluginFolder(
      'cat "$PLUGIN_DATA/note" 2>/dev/null; echo kept >"$PLUGIN_DATA/note"; ls -d "$HOME" "$TMPDIR" >/dev/null',
    );
    const first = await startPlugin(folder, way, { dataFolder });
    expect(await outputOf(first)).toEqual({ out: "", err: "" });
    await first.kill();
    expect(statSync(dataFolder).mode & 0o777).toBe(0o700);
    expect((await outputOf(await startPlugin(folder, way, { dataFolder }))).out).toBe("kept\n");
  });

  it("gives its standard error, whenever it is read, and the status it ended with", async () => {
    const plugin = await startPlugin(pluginFolder("echo said >&2; echo more; exit 3"), way);
    expect(await outputOf(plugin)).toEqual({ out: "more\n", err: "said\n" });
    expect(await plugin.exited).toEqual({ code: 3, signal: undefined, reason: "exited" });
    await plugin.kill();
  });

  it("that is killed by itself is told so", async () => {
    const plugin = await startPlugin(pluginFolder("kill -9 $$"), way);
    expect(await plugin.exited).toEqual({ code: undefined, signal: "SIGKILL", reason: "signalled" });
  });

  it("sees the end of its input", async () => {
    const plugin = await startPlugin(pluginFolder("cat >/dev/null; exit 7"), way);
    plugin.endInput();
    plugin.endInput();
    expect(await plugin.exited).toMatchObject({ code: 7 });
    plugin.endInput();
  });

  it("is asked to end by SIGTERM, and may answer", async () => {
    const plugin = await startPlugin(
      pluginFolder("trap 'echo asked; exit 5' TERM; echo up; while :; do sleep 0.05; done"),
      way,
    );
    expect(await firstLine(plugin)).toBe("up");
    plugin.terminate();
    expect((await outputOf(plugin)).out).toBe("asked\n");
    expect(await plugin.exited).toEqual({ code: 5, signal: undefined, reason: "ended" });
    plugin.terminate();
  });

  it("is killed with all that it started, also what left its group and ignores SIGTERM", async () => {
    const nap = uniqueNap();
    const text = `trap '' TERM HUP
      setsid sh -c 'trap "" TERM HUP; sleep ${nap}' </dev/null >/dev/null 2>&1 &
      (setsid sleep ${nap} &) 
      until [ "$(grep -alz "^${nap}" /proc/[0-9]*/cmdline 2>/dev/null | wc -l)" -ge 2 ]; do sleep 0.01; done
      echo up; sleep ${nap}`;
    const plugin = await startPlugin(pluginFolder(text), way);
    expect(await firstLine(plugin)).toBe("up");
    expect(processesWith(nap)).toBeGreaterThan(2);
    plugin.terminate();
    await plugin.kill();
    expect(processesWith(nap)).toBe(0);
    expect(await plugin.exited).toMatchObject({ reason: "ended" });
    await plugin.kill();
  });

  it("that exits takes with it what it started", async () => {
    const nap = uniqueNap();
    const plugin = await startPlugin(pluginFolder(`(setsid sleep ${nap} </dev/null >/dev/null 2>&1 &); exit 0`), way);
    await plugin.exited;
    await plugin.kill();
    expect(processesWith(nap)).toBe(0);
  });

  it("is not started when the wait is over already", async () => {
    const reason = new Error("enough");
    const marker = join(emptyFolder(), "data");
    const folder = pluginFolder('touch "$PLUGIN_DATA/ran"; cat');
    const starting = startPlugin(folder, way, { dataFolder: marker, signal: AbortSignal.abort(reason) });
    await expect(starting).rejects.toBe(reason);
    expect(existsSync(join(marker, "ran"))).toBe(false);
  });

  it("that cannot be executed ends with a reason", async () => {
    const folder = pluginFolder("exit 0");
    const gone = realpathSync(folder);
    const plugin = startPlugin(folder, way, {
      get dataFolder() {
        return join(gone, "x"); // inside the plugin: refused before anything is started
      },
    });
    await expect(plugin).rejects.toMatchObject({ code: "OPTION_INVALID" });
    expect(readFileSync(join(folder, "bin/plugin"), "utf8")).toContain("exit 0");
  });
});
