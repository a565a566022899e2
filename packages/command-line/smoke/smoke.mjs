// The contract in short, on every Node that the package promises to run on.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

const [major = 0] = process.versions.node.split(".").map(Number);
const skip = major < 22 ? "commander needs Node 22.12" : false;
const example = fileURLToPath(new URL("../examples/quickstart.js", import.meta.url));

test("a command says its result on stdout and its end in words on stderr, with its exit code", { skip }, () => {
  const { status, stdout, stderr } = spawnSync(process.execPath, [example], { encoding: "utf8" });
  assert.deepEqual([status, stdout], [3, "waiting for the tide\n"]);
  assert.equal(stderr, "ferry: the harbour is closed\n  it opens at 6\n");
});

test("a YAML document is read with its lines", { skip }, async () => {
  const { checkForm, readDocument } = await import("@berth/command-line/config");
  const refuse = { safeParse: () => ({ success: false, error: { issues: [{ path: ["b"], message: "no" }] } }) };
  assert.deepEqual(
    readDocument("a: 1\nb: 2\n", (value) => checkForm(refuse, value)),
    {
      ok: false,
      problems: [{ line: 2, message: "b: no" }],
    },
  );
});

test("the log is JSON lines on stderr", { skip }, () => {
  const script =
    'const { createLogger } = await import("@berth/command-line"); (await createLogger("info")).info({ a: 1 }, "up");';
  const { stderr } = spawnSync(process.execPath, ["--input-type=module", "-e", script], {
    encoding: "utf8",
    cwd: fileURLToPath(new URL("..", import.meta.url)),
  });
  const { level, a, msg } = JSON.parse(stderr);
  assert.deepEqual({ level, a, msg }, { level: 30, a: 1, msg: "up" });
});
