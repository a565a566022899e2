// The contract in short, on every Node that the package promises to run on.
import assert from "node:assert/strict";
import { chmodSync, mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import {
  defaultStatePath,
  findPrivateFolder,
  isStateError,
  openPrivateFolder,
  readText,
  replaceFile,
} from "@berth/state-folder";

const scratch = mkdtempSync(join(tmpdir(), "berth-state-smoke-"));
test.after(() => rmSync(scratch, { recursive: true, force: true }));

test("a state folder is made, found again, and refused when others could write into it", async () => {
  const layout = { format: 1, folders: ["logs"] };
  const path = await openPrivateFolder(join(scratch, "a", "b"), layout);
  assert.equal(statSync(path).mode & 0o777, 0o700);
  assert.equal(await findPrivateFolder(path, layout), path);
  writeFileSync(join(path, "logs"), "");
  await assert.rejects(
    openPrivateFolder(path, layout),
    (error) => isStateError(error) && error.code === "STATE_UNUSABLE",
  );
  chmodSync(path, 0o722);
  await assert.rejects(openPrivateFolder(path, { format: 1 }), { code: "STATE_UNUSABLE" });
});

test("a file is replaced whole, and read in bounds", async () => {
  const path = join(scratch, "file");
  await replaceFile(path, "écho");
  assert.equal(await readText(path, 5), "écho");
  await assert.rejects(readText(path, 4), { code: "TEXT_TOO_LARGE" });
  assert.equal(defaultStatePath("x", { XDG_STATE_HOME: "/s" }), "/s/x");
});
