import { createHash } from "node:crypto";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import type { InstalledEnvironmentOptions } from "../../src/index.js";

export const emptyHash = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
export const sha256 = (text: string): string => createHash("sha256").update(text).digest("hex");

/** A plugin that another host installed. */
export interface Installed {
  readonly home: string;
  readonly cache: string;
  readonly options: InstalledEnvironmentOptions;
  write(name: string, content: string): void;
  read(name: string): unknown;
}

/** A plugin `pii.filters.PiiFilter` with an environment whose interpreter is there, and no metadata. */
export function makeInstalled(more: Partial<InstalledEnvironmentOptions> = {}): Installed {
  const folder = mkdtempSync("/tmp/berth-installed-");
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const home = join(folder, "plugins", "pii");
  const cache = join(home, ".cpex", "venv_cache");
  mkdirSync(cache, { recursive: true });
  mkdirSync(join(home, ".venv", "bin"), { recursive: true });
  symlinkSync("/usr/bin/python3", join(home, ".venv", "bin", "python"));
  const framework = join(home, ".venv", "lib", "python3", "site-packages", "cpex", "framework", "isolated");
  mkdirSync(framework, { recursive: true });
  writeFileSync(join(framework, "worker.py"), "");
  writeFileSync(join(home, "requirements.txt"), "cpex\n");
  return {
    home,
    cache,
    options: {
      pluginsFolder: join(folder, "plugins"),
      className: "pii.filters.PiiFilter",
      requirementsFile: "requirements.txt",
      version: "1.2",
      ...more,
    },
    write: (name, content) => writeFileSync(join(cache, name), content),
    read: (name) => JSON.parse(readFileSync(join(cache, name), "utf8")),
  };
}

/** The Rust host's note, of one class. */
export const ofClass = "pii-filters-PiiFilter_metadata.json";
/** The command line's note, of the whole environment. */
export const ofAll = ".venv_metadata.json";

/** What both write when all is as it was. */
export const metadata = (installed: Installed, more: object = {}): string =>
  JSON.stringify({
    venv_path: join(installed.home, ".venv"),
    requirements_file: null,
    requirements_hash: sha256("cpex\n"),
    manifest_version: "1.2",
    manifest_hash: emptyHash,
    python_version: "3.11.2",
    ...more,
  });
