import { spawnSync } from "node:child_process";
import {
  chmodSync,
  chownSync,
  constants,
  copyFileSync,
  cpSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, describe, expect } from "vitest";
import { partTest } from "../../../fixtures/parts.js";

const scratch = mkdtempSync(join(tmpdir(), "berth-user-"));
const mappedHolder = fileURLToPath(new URL("programs/hold-mapped.py", import.meta.url));
afterAll(() => rmSync(scratch, { recursive: true, force: true }));

/** Runs a module as the user nobody, who may not read the folder of this repository or of our Node. */
function runAsNobody(source: string): unknown {
  chmodSync(scratch, 0o755);
  cpSync(fileURLToPath(new URL("../dist", import.meta.url)), join(scratch, "dist"), { recursive: true });
  copyFileSync(process.execPath, join(scratch, "node"), constants.COPYFILE_FICLONE);
  writeFileSync(join(scratch, "package.json"), '{"type":"module"}');
  writeFileSync(join(scratch, "main.js"), source);
  const user = ["--reuid", "65534", "--regid", "65534", "--clear-groups", "env", "-i", "PATH=/usr/bin:/bin"];
  const run = spawnSync("setpriv", [...user, join(scratch, "node"), join(scratch, "main.js")], { encoding: "utf8" });
  expect(run.stderr).toBe("");
  return JSON.parse(run.stdout);
}

function ownFolder(): string {
  const folder = mkdtempSync(join(scratch, "own-"));
  chownSync(folder, 65534, 65534);
  return folder;
}

describe("an ordinary user", () => {
  partTest(
    "bubblewrap",
    "ordinary-user",
    "util-linux",
    "python3",
  )("opens, prepares, finds and ends sandboxes, with what rlimits hold, and memory refused", () => {
    const found = runAsNobody(`
import { createPreparedSandboxes, endSandbox, findSandbox, openSandbox } from "./dist/index.js";
const read = async (stream) => {
  let text = "";
  for await (const chunk of stream) text += chunk;
  return text;
};
const options = { name: "nobody", policy: {}, args: ["-I", "-c", "import os; print(os.getuid(), len(os.listdir('/proc/self/fd')))"], env: {} };
const limited = { file: "/usr/bin/python3", policy: { limits: { processes: 8, openFiles: 32 } } };
const first = await openSandbox({ ...options, ...limited });
const said = await read(first.stdout);
const exit = await first.exited;
const prepared = createPreparedSandboxes({ name: "nobody", ...limited });
await prepared.ready();
const waited = await prepared.open({ args: options.args, env: {} });
const saidToo = await read(waited.stdout);
await waited.close();
await prepared.close();
const second = await openSandbox({ ...options, file: "/bin/sleep", args: ["600"] });
const before = findSandbox(second.identity);
const ended = await endSandbox(second.identity);
const third = await openSandbox({ ...options, file: "/bin/sh", args: ["-c", "trap 'exit 4' TERM; echo; while :; do read x; done"] });
await third.stdout[Symbol.asyncIterator]().next();
await third.close();
// It may not look at a file by its mapping, whose length counts: here more than the file, and than the bound.
const policy = { workspace: { kind: "folder", source: ${JSON.stringify(ownFolder())} }, limits: { diskBytes: 2 ** 22 } };
const args = ["-I", "-c", ${JSON.stringify(readFileSync(mappedHolder, "utf8"))}, "/workspace", "3", "6"];
const holding = await openSandbox({ ...options, file: "/usr/bin/python3", args, policy });
const held = { by: holding.enforced.find(({ limit }) => limit === "diskBytes").by, ...(await holding.exited) };
const refused = await openSandbox({ ...options, file: "/bin/true", policy: { limits: { memoryBytes: 2 ** 26 } } }).catch((error) => error.code);
console.log(JSON.stringify({ said, saidToo, reason: exit.reason, before, ended, closed: await third.exited, held, refused }));
`);
    expect(found).toMatchObject({
      said: "1000 4\n",
      saidToo: "1000 4\n",
      reason: "exited",
      before: "running",
      ended: "gone",
      closed: { reason: "closed", code: 4 },
      held: { by: "watched", reason: "disk" },
      refused: "LIMIT_NOT_ENFORCEABLE",
    });
  });
});
