import { describe, expect, it } from "vitest";
import { pluginEnvironment } from "../../src/confine/plugin-environment.js";
import { readManifest } from "../../src/manifest/read-manifest.js";
import { manifestText } from "../support/plugin-folder.js";

describe("the environment of a plugin", () => {
  it("is what the protocol lists, and what the manifest adds", async () => {
    const reading = await readManifest(manifestText({}, { env: { MODE: "quick", Z: "" } }));
    if (!reading.ok) throw new Error(reading.problems.join());
    expect(pluginEnvironment({ manifest: reading.manifest, root: "/srv/p", dataFolder: "/plugin-data" })).toEqual({
      MODE: "quick",
      Z: "",
      PLUGIN_ROOT: "/srv/p",
      PLUGIN_DATA: "/plugin-data",
      PLUGIN_NAME: "smoke",
      AVE_PROTOCOL: "1",
      HOME: "/plugin-data/home",
      TMPDIR: "/plugin-data/tmp",
      PATH: "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
      LANG: "C.UTF-8",
      LC_ALL: "C.UTF-8",
      TZ: "UTC",
    });
  });

  it("has no variable that a manifest may set and the host sets too", async () => {
    const reading = await readManifest(manifestText());
    if (!reading.ok) throw new Error(reading.problems.join());
    const names = Object.keys(pluginEnvironment({ manifest: reading.manifest, root: "/", dataFolder: "/d" }));
    for (const name of names) {
      expect((await readManifest(manifestText({}, { env: { [name]: "x" } }))).ok).toBe(false);
    }
  });
});
