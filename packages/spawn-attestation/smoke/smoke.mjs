// The contract of the package from its built files, on every Node that it promises to run on.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { generateKeyPairSync } from "node:crypto";
import { chmodSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, before, test } from "node:test";
import { attestedSpawn, createMeasurer, describeLaunch, isAttestationError, signStatement } from "../dist/index.js";
import { verifyStatement } from "../dist/verify.js";

const env = { PATH: `${dirname(process.execPath)}:/usr/bin:/bin` };
let folder;
let measurer;
before(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), "berth-smoke-")));
  writeFileSync(join(folder, "package.json"), '{"name":"smoke"}');
  writeFileSync(join(folder, "lib.cjs"), 'module.exports = "ran"');
  writeFileSync(join(folder, "main.cjs"), 'console.log(require("./lib.cjs"))');
  measurer = createMeasurer();
});
after(async () => {
  await measurer.close();
  for (const each of [folder, `${folder}-snapshots`]) {
    spawnSync("chmod", ["-R", "u+w", each]);
    rmSync(each, { recursive: true, force: true });
  }
});

const launch = (description, decisions = []) =>
  attestedSpawn({
    description,
    policy: { allowUnmeasuredSpawn: false },
    record: async (decision) => void decisions.push(decision),
    spawn: async ({ file, args, argv0, env: environment, cwd }) =>
      spawnSync(file, args, { argv0, env: environment, cwd, encoding: "utf8" }).stdout,
    end: async () => undefined,
    snapshots: `${folder}-snapshots`,
    measurer,
  });

for (const guard of ["recheck", "snapshot", "none"]) {
  test(`a pinned launch runs under guard ${guard}`, async () => {
    const plain = { command: "node", args: ["main.cjs"], env, cwd: folder, guard };
    const { pin, measurement } = await describeLaunch(plain, { measurer });
    assert.match(pin.digest, /^tree-v1:[0-9a-f]{64}$/);
    assert.equal(measurement.interpreter.family, "node");
    const attested = await launch({ ...plain, ...pin });
    await attested.recheck();
    assert.equal(attested.child, "ran\n");
    assert.equal(attested.decision.evidence, "spawn-measured");
  });
}

test("a change is refused, recorded, and does not run", async () => {
  const plain = { command: "node", args: ["main.cjs"], env, cwd: folder };
  const { pin } = await describeLaunch(plain, { measurer });
  writeFileSync(join(folder, "lib.cjs"), 'module.exports = "other"');
  const decisions = [];
  await assert.rejects(
    launch({ ...plain, ...pin }, decisions),
    (error) => isAttestationError(error) && error.code === "DIGEST_MISMATCH",
  );
  assert.deepEqual(
    decisions.map(({ verdict, reason }) => [verdict, reason]),
    [["refuse", "DIGEST_MISMATCH"]],
  );
});

test("a launcher is refused with advice", async () => {
  writeFileSync(join(folder, "npx"), "#!/bin/sh\n");
  chmodSync(join(folder, "npx"), 0o755);
  await assert.rejects(
    describeLaunch({ command: "npx", args: ["-y", "srv"], env: { PATH: folder } }, { measurer }),
    (error) => {
      assert.equal(error.code, "LAUNCHER_WITHOUT_TARGET");
      assert.match(error.advice, /npm install srv/);
      return true;
    },
  );
});

test("a statement is signed and verified", async () => {
  const plain = { command: "node", args: ["main.cjs"], env, cwd: folder };
  const { pin } = await describeLaunch(plain, { measurer });
  const { statement } = await launch({ ...plain, ...pin });
  const { privateKey, publicKey } = generateKeyPairSync("ed25519");
  const key = Buffer.from(publicKey.export({ format: "jwk" }).x, "base64url");
  const report = await verifyStatement(signStatement(statement, privateKey), { keys: [key] });
  assert.deepEqual(report, { ok: true, statement, keyIndex: 0 });
});
