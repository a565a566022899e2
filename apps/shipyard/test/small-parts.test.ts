import { execFileSync } from "node:child_process";
import { mkdirSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ShipyardError } from "../src/errors.js";
import { folderOf, ownedProfiles } from "../src/profiles/profiles.js";
import { findStateFolder, openStateFolder } from "../src/state-folder.js";
import { scratchFolder } from "./shipyard.js";

describe("an owner's folder", () => {
  it("is a plain name of its own for every owner", () => {
    fc.assert(
      fc.property(
        fc.string({ minLength: 1, unit: "binary" }),
        fc.string({ minLength: 1, unit: "binary" }),
        (one, two) => {
          const [first, second] = [folderOf(one), folderOf(two)];
          expect(first).toMatch(/^(?:[a-z0-9][a-z0-9._-]{0,63}|~[0-9a-f]{32})$/);
          expect(first === second).toBe(one === two);
        },
      ),
    );
  });

  it.each(["..", ".", "a/b", "A", "~", "", "é", "x".repeat(65), `~${"0".repeat(32)}`])(
    "is never the name itself for %j",
    (owner) => {
      expect(folderOf(owner)).toMatch(/^~[0-9a-f]{32}$/);
      expect(folderOf(owner)).not.toBe(owner);
    },
  );

  it("is found again by the profile's name alone, and nothing else is", () => {
    const uploads = scratchFolder();
    const python = { provider: "bubblewrap", template: "python3" };
    const config = {
      profile: "python",
      profiles: { python },
      provider: "bubblewrap",
      uploads: { maxBytes: 1_048_576 },
    } as const;
    const profiles = ownedProfiles({ config, uploads, onlyOwner: undefined });
    const name = profiles.of("ada");
    expect(name).toBe("python@ada");
    expect(profiles.find(name)?.mounts).toEqual([
      { source: join(uploads, "ada"), target: "/app/uploads", writable: true, maxBytes: 1_048_576 },
    ]);
    expect((statSync(join(uploads, "ada")).mode & 0o777).toString(8)).toBe("700");
    const local = ownedProfiles({ config, uploads, onlyOwner: "local" });
    expect(local.find(local.of("local"))?.mounts?.[0]?.source).toBe(uploads);
    expect(profiles.find("python")).toEqual(python);
    const bare = ownedProfiles({ config: { ...config, provider: "unconfined" }, uploads, onlyOwner: undefined });
    expect(bare.find("python@ada")?.mounts).toEqual([
      { source: join(uploads, "ada"), target: join(uploads, "ada"), writable: true },
    ]);
    for (const other of ["python@../x", "python@a/b", "python@A", "python@a@b", "toString", "x@ada", "__proto__"]) {
      expect(profiles.find(other), other).toBeUndefined();
    }
  });
});

it("a link in the place of an owner's folder is refused: code that had all uploads could have planted it", () => {
  const [uploads, elsewhere] = [scratchFolder(), scratchFolder()];
  symlinkSync(elsewhere, join(uploads, "ada"));
  const config = {
    profile: "python",
    profiles: { python: { provider: "bubblewrap", template: "python3" } },
    provider: "bubblewrap",
    uploads: { maxBytes: 1_048_576 },
  } as const;
  expect(() => ownedProfiles({ config, uploads, onlyOwner: undefined }).of("ada")).toThrow("is no folder but a link");
});

it.each([
  { place: "audit", make: (path: string) => writeFileSync(path, "") },
  { place: "w", make: (path: string) => writeFileSync(path, "") },
  { place: "uploads", make: (path: string) => writeFileSync(path, "") },
  { place: "control.sock", make: (path: string) => mkdirSync(path) },
  {
    place: "format.json",
    make(path: string) {
      rmSync(path);
      execFileSync("mkfifo", [path]);
    },
  },
])("a state folder whose $place is something else is refused before anything is started", async ({ place, make }) => {
  const { path } = await openStateFolder(join(scratchFolder(), "s"));
  make(join(path, place));
  await expect(openStateFolder(path)).rejects.toMatchObject({ code: "STATE_UNUSABLE" });
});

it("a state folder is the same for all commands, and what it is refused for ends them with exit code 2", async () => {
  const path = join(scratchFolder(), "s");
  const absent: unknown = await findStateFolder(path).catch((error: unknown) => error);
  expect(absent).toBeInstanceOf(ShipyardError);
  expect(absent).toMatchObject({ code: "STATE_UNUSABLE", exitCode: 2 });
  expect(await openStateFolder(path)).toEqual(await findStateFolder(path));
  writeFileSync(join(path, "format.json"), '{"format":2}\n');
  await expect(openStateFolder(path)).rejects.toMatchObject({ code: "STATE_NEWER", exitCode: 2 });
});
