import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished } from "vitest";
import { partTest } from "../../../../fixtures/parts.js";
import { childrenOf } from "../../src/identity/process-identity.js";
import { createPreparedSandboxesOn } from "../../src/prepared-sandboxes.js";
import { thisHost } from "../../src/start/host.js";

const itInside = partTest("bubblewrap");
/** From its start to the failure of a bubblewrap that is tried once; the next one never comes to anything. */
const failsAfterMs = 1_500;
const startTimeoutMs = 3_000;

function failingBubblewrap(): string {
  const folder = mkdtempSync(join(tmpdir(), "berth-failing-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const [file, tried] = [join(folder, "bwrap"), join(folder, "tried")];
  const script = `#!/bin/sh\n[ -e ${tried} ] && exec sleep 600\n: >${tried}\nsleep ${failsAfterMs / 1_000}\nexit 1\n`;
  writeFileSync(file, script, { mode: 0o755 });
  return file;
}

describe("the bound of a start", () => {
  itInside("holds for what waits in vain and what is started in its place, together", async () => {
    const usual = thisHost();
    const bubblewrap = failingBubblewrap();
    const host = { ...usual, findTool: (name: string) => (name === "bwrap" ? bubblewrap : usual.findTool(name)) };
    await using prepared = createPreparedSandboxesOn(host, { name: "bound", policy: {}, file: "/bin/sh" });
    const began = performance.now();
    const opening = prepared.open({ args: [], env: {}, startTimeoutMs });
    await expect(opening).rejects.toMatchObject({ code: "START_TIMEOUT" });
    expect(performance.now() - began).toBeLessThan(startTimeoutMs + failsAfterMs);
    await prepared.close();
    expect(childrenOf(process.pid)).toEqual([]);
  });
});
