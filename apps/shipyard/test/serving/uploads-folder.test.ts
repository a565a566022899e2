import { existsSync, mkdirSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { makeUploadsFolder } from "../../src/serving/uploads-folder.js";
import { scratchFolder, shipyard } from "../shipyard.js";

describe("the uploads folder", () => {
  it("is made, for its user alone, below a folder that is there", async () => {
    const path = join(scratchFolder(), "up");
    expect(await makeUploadsFolder(path)).toBe(path);
    expect(statSync(path).mode & 0o777).toBe(0o700);
    expect(await makeUploadsFolder(path)).toBe(path);
  });

  it("may be a link of the operator's to a folder", async () => {
    const folder = scratchFolder();
    mkdirSync(join(folder, "real"));
    symlinkSync(join(folder, "real"), join(folder, "link"));
    expect(await makeUploadsFolder(join(folder, "link"))).toBe(join(folder, "link"));
  });

  it("is refused where a file lies", async () => {
    const path = join(scratchFolder(), "file");
    writeFileSync(path, "");
    await expect(makeUploadsFolder(path)).rejects.toMatchObject({ code: "STATE_UNUSABLE", lines: [] });
  });

  it("is refused by the command, with 2 and what is missing, when the folder above it is not there", async () => {
    const folder = scratchFolder();
    const uploads = join(folder, "typo", "up");
    const refused = await shipyard(["serve", "--state", join(folder, "s"), "--uploads", uploads]);
    expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining(`there is no folder ${folder}/typo`) });
    expect(existsSync(join(folder, "typo"))).toBe(false);
  });
});
