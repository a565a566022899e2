import { spawnSync } from "node:child_process";
import { once } from "node:events";
import { closeSync, openSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { Worker } from "node:worker_threads";
import { describe, expect, it } from "vitest";
import { partTest } from "../../../../fixtures/parts.js";
import { listInherited } from "../../src/start/inherited-descriptors.js";

const itInside = partTest("bubblewrap", "python3");
const program = fileURLToPath(new URL("../programs/descriptors.mjs", import.meta.url));
const withDescriptors = (command: string): string => {
  const script = `exec 13</etc/passwd 77</etc 251<>/dev/null 1000</; exec ${command}`;
  const run = spawnSync("bash", ["-c", `ulimit -n 4096; ${script}`], { encoding: "utf8" });
  expect(run.stderr).toBe("");
  return run.stdout;
};

describe("descriptors that the host inherited", () => {
  itInside("are not inside, whatever their number, for both forms of the handshake", () => {
    expect(withDescriptors(`${process.execPath} ${program}`)).toBe("shell [0, 1, 2]\ncommand [0, 1, 2]\n");
  });

  itInside("would be inside without us", () => {
    const bare = "bwrap --ro-bind / / --proc /proc /bin/ls /proc/self/fd";
    const spawned = `require("node:child_process").spawnSync("sh", ["-c", "${bare}"], { stdio: "inherit" })`;
    const seen = withDescriptors(`${process.execPath} -e '${spawned}'`).trim().split("\n");
    expect(seen).toEqual(expect.arrayContaining(["77", "251", "1000"]));
  });

  it("are listed while other threads open and close files, as those that measure or compress do", async () => {
    const busy = "const { closeSync, openSync } = require('node:fs'); for (;;) closeSync(openSync('/dev/null', 'r'));";
    const worker = new Worker(busy, { eval: true });
    try {
      await once(worker, "online");
      const inherited = listInherited();
      for (let round = 0; round < 1_000; round += 1) expect(listInherited()).toEqual(inherited);
    } finally {
      await worker.terminate();
    }
  });

  it("are told from those that we opened ourselves", () => {
    const own = openSync("/dev/null", "r");
    expect(listInherited(3)).not.toContain(own);
    closeSync(own);
  });
});
