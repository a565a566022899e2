import { chmod, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { GatewayError } from "../src/errors.js";
import { readText } from "../src/read-text.js";
import { findStateFolder, openStateFolder } from "../src/state-folder.js";

describe("the state folder", () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "berth-state-"));
  });
  afterEach(() => rm(folder, { recursive: true }));

  it("is the same for all commands, and what it is refused for ends them with exit code 2", async () => {
    const state = await openStateFolder(join(folder, "state"));
    expect(await findStateFolder(join(folder, "state"))).toEqual(state);
    const refusals = [
      () => findStateFolder(join(folder, "absent")),
      () => readText(state.path.concat("/format.json"), 3),
    ];
    const codes = await Promise.all(
      refusals.map((refused) =>
        refused().catch((error: unknown) => error instanceof GatewayError && [error.code, error.exitCode]),
      ),
    );
    expect(codes).toEqual([
      ["STATE_UNUSABLE", 2],
      ["USAGE", 2],
    ]);
    await writeFile(join(state.path, "format.json"), '{"format":2}\n');
    await expect(openStateFolder(state.path)).rejects.toMatchObject({ code: "STATE_NEWER", exitCode: 2 });
  });

  it("is not believed when others could write into it: its pins may be theirs", async () => {
    const { path } = await openStateFolder(join(folder, "state"));
    await chmod(path, 0o720);
    await expect(openStateFolder(path)).rejects.toMatchObject({
      code: "STATE_UNUSABLE",
      message: expect.stringContaining("run-catalog.json first, then close it with chmod 700"),
    });
  });

  it.each(["audit", "children", "snapshots", "scratch", "locks"])(
    "is refused before anything is started when a file stands in the place of %s",
    async (name) => {
      const { path } = await openStateFolder(join(folder, "state"));
      await mkdir(join(path, name));
      await openStateFolder(path);
      await rm(join(path, name), { recursive: true });
      await writeFile(join(path, name), "");
      await expect(openStateFolder(path)).rejects.toMatchObject({ code: "STATE_UNUSABLE" });
    },
  );
});
