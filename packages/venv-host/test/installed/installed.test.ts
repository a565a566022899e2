import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, rmSync, symlinkSync, truncateSync, unlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import {
  claimInstalledEnvironment,
  findInstalledEnvironment,
  type InstalledEnvironmentOptions,
} from "../../src/index.js";

import { emptyHash, type Installed, makeInstalled, metadata, ofAll, ofClass, sha256 } from "./plugin-folder.js";

describe("an environment that another host installed", () => {
  it.each<{
    name: string;
    prepare: (installed: Installed) => void;
    verdict: string;
    more?: Partial<InstalledEnvironmentOptions>;
  }>([
    { name: "the Rust host's metadata fits", prepare: (at) => at.write(ofClass, metadata(at)), verdict: "valid" },
    { name: "the command line's metadata fits", prepare: (at) => at.write(ofAll, metadata(at)), verdict: "valid" },
    {
      name: "a signal is null or absent",
      prepare: (at) => at.write(ofClass, metadata(at, { manifest_version: null, manifest_hash: undefined })),
      verdict: "valid",
    },
    {
      name: "there are no requirements, and none were",
      prepare: (at) => at.write(ofClass, metadata(at, { requirements_hash: emptyHash })),
      more: { requirementsFile: undefined },
      verdict: "valid",
    },
    {
      name: "a requirements file that is not there counts as empty",
      prepare: (at) => at.write(ofClass, metadata(at, { requirements_hash: emptyHash })),
      more: { requirementsFile: "gone.txt" },
      verdict: "valid",
    },
    {
      name: "there is none",
      prepare: (at) => rmSync(join(at.home, ".venv"), { recursive: true }),
      verdict: "venv missing",
    },
    {
      name: "its interpreter leads nowhere",
      prepare: (at) => {
        at.write(ofClass, metadata(at));
        unlinkSync(join(at.home, ".venv", "bin", "python"));
        symlinkSync("/nowhere/python", join(at.home, ".venv", "bin", "python"));
      },
      verdict: "venv missing",
    },
    { name: "nothing was noted", prepare: () => {}, verdict: "metadata missing" },
    {
      name: "the note is cut",
      prepare: (at) => at.write(ofClass, metadata(at).slice(0, 40)),
      verdict: "metadata unreadable",
    },
    {
      name: "the note is a folder",
      prepare: (at) => mkdirSync(join(at.cache, ofClass)),
      verdict: "metadata unreadable",
    },
    {
      name: "the note lacks what it must have",
      prepare: (at) => at.write(ofClass, metadata(at, { venv_path: undefined })),
      verdict: "metadata unreadable",
    },
    {
      name: "requirements changed, which is looked at first",
      prepare: (at) =>
        at.write(ofClass, metadata(at, { requirements_hash: sha256("x"), manifest_version: "9", manifest_hash: "9" })),
      verdict: "requirements changed",
    },
    {
      name: "the version changed, before the manifest",
      prepare: (at) => at.write(ofClass, metadata(at, { manifest_version: "9", manifest_hash: "9" })),
      verdict: "manifest version changed",
    },
    {
      name: "a version was noted and none is known now",
      prepare: (at) => at.write(ofClass, metadata(at)),
      more: { version: undefined },
      verdict: "manifest version changed",
    },
    {
      name: "the manifest was edited",
      prepare: (at) => {
        at.write(ofClass, metadata(at));
        writeFileSync(join(at.home, "pii-filters-PiiFilter.plugin-manifest.yaml"), "version: 1.2\n");
      },
      verdict: "manifest hash changed",
    },
    {
      name: "the manifest was edited, and no version was noted",
      prepare: (at) => at.write(ofClass, metadata(at, { manifest_version: undefined, manifest_hash: sha256("x") })),
      verdict: "manifest hash changed",
    },
    {
      name: "the version changed, and no digest of the manifest was noted",
      prepare: (at) => at.write(ofClass, metadata(at, { manifest_version: "9", manifest_hash: null })),
      verdict: "manifest version changed",
    },
    {
      name: "requirements are too large to be measured, which is not the same as none",
      prepare: (at) => {
        at.write(ofClass, metadata(at, { requirements_hash: emptyHash }));
        truncateSync(join(at.home, "requirements.txt"), 20_000_000);
      },
      verdict: "requirements changed",
    },
    {
      name: "its interpreter is a folder",
      prepare: (at) => {
        at.write(ofClass, metadata(at));
        unlinkSync(join(at.home, ".venv", "bin", "python"));
        mkdirSync(join(at.home, ".venv", "bin", "python"));
      },
      verdict: "venv missing",
    },
    {
      name: "its interpreter is a link to itself",
      prepare: (at) => {
        at.write(ofClass, metadata(at));
        unlinkSync(join(at.home, ".venv", "bin", "python"));
        symlinkSync("python", join(at.home, ".venv", "bin", "python"));
      },
      verdict: "venv missing",
    },
    {
      name: "the note is a pipe",
      prepare: (at) => void execFileSync("mkfifo", [join(at.cache, ofClass)]),
      verdict: "metadata unreadable",
    },
    {
      name: "requirements are a pipe, which is no file",
      prepare: (at) => {
        at.write(ofClass, metadata(at, { requirements_hash: emptyHash }));
        unlinkSync(join(at.home, "requirements.txt"));
        execFileSync("mkfifo", [join(at.home, "requirements.txt")]);
      },
      verdict: "valid",
    },
    {
      name: "a signal is no text",
      prepare: (at) => at.write(ofClass, metadata(at, { manifest_version: 1.2 })),
      verdict: "manifest version changed",
    },
    {
      name: "another class's note says nothing",
      prepare: (at) => at.write("pii-filters-Other_metadata.json", metadata(at)),
      verdict: "metadata missing",
    },
  ])("is judged as the fact sheet says: $name", async ({ prepare, verdict, more }) => {
    const installed = makeInstalled(more);
    prepare(installed);
    expect((await findInstalledEnvironment(installed.options)).verdict).toBe(verdict);
  });

  it("lies in the folder of the class's first name, with requirements relative to it or absolute", async () => {
    const installed = makeInstalled();
    installed.write(ofClass, metadata(installed));
    const found = await findInstalledEnvironment(installed.options);
    expect(found).toEqual({
      path: join(installed.home, ".venv"),
      verdict: "valid",
      metadata: join(installed.cache, ofClass),
    });
    const absolute = { ...installed.options, requirementsFile: join(installed.home, "requirements.txt") };
    expect((await findInstalledEnvironment(absolute)).verdict).toBe("valid");
    const other = { ...installed.options, className: "elsewhere.PiiFilter" };
    expect(await findInstalledEnvironment(other)).toMatchObject({
      path: join(installed.options.pluginsFolder, "elsewhere", ".venv"),
      verdict: "venv missing",
    });
  });

  it("stays valid for each of two plugins in one package, however often they take turns", async () => {
    const installed = makeInstalled();
    installed.write(ofAll, metadata(installed));
    const classes = ["pii.filters.PiiFilter", "pii.filters.Other"];
    const seen: string[] = [];
    for (const className of [...classes, ...classes, ...classes]) {
      const options = { ...installed.options, className };
      expect((await findInstalledEnvironment(options)).verdict).toBe("valid");
      await (await claimInstalledEnvironment(options)).close();
      seen.push(readFileSync(join(installed.cache, ofAll), "utf8"));
    }
    expect(new Set(seen)).toEqual(new Set([metadata(installed)]));
  });

  it("of a class whose name is no module's is an error of the caller", async () => {
    for (const className of ["", "../x.Y", ".x", "a/b.C"]) {
      const options = { ...makeInstalled().options, className };
      await expect(findInstalledEnvironment(options)).rejects.toMatchObject({ code: "OPTION_INVALID" });
    }
  });
});
