import { spawnSync } from "node:child_process";
import { mkdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { partTest } from "../../../fixtures/parts.js";
import { verifyLog } from "../src/index.js";
import { nodeCommand, start } from "./processes.js";
import { logFolder, open, scratch, segmentsOf } from "./scratch.js";

const quoted = (parts: readonly string[]): string => parts.map((part) => `'${part}'`).join(" ");

describe.each(["each", "batch", "none"] as const)("durability %s", (durability) => {
  it("a file that may not grow further fails the append, and leaves no piece of it", async () => {
    const directory = logFolder();
    // 200 blocks of 512 bytes: the limit is in the middle of an entry of 5,000.
    const command = `ulimit -f 200; exec ${quoted(nodeCommand("writer.mjs", [directory, durability, "0", "5000"]))}`;
    const writer = start("/bin/sh", ["-c", command]);
    expect(await writer.ended).toMatchObject({ code: 1 });
    const error = JSON.parse(writer.lines.at(-1)?.slice("error ".length) ?? "");
    expect(error).toMatchObject({ code: durability === "none" ? "CHAIN_FAILED" : "WRITE_FAILED", cause: "EFBIG" });
    const acknowledged = writer.lines.filter((line) => line.startsWith("ack")).length;
    const report = await verifyLog(directory, { strict: true });
    // The entry that failed was acknowledged only where nothing waits for the write.
    expect(report.entries).toBe(durability === "none" ? acknowledged - 1 : acknowledged);
    expect(report).toMatchObject({ ok: true, notices: [] });
    expect(statSync(join(directory, segmentsOf(directory)[0] ?? "")).size).toBeLessThan(200 * 512);
    await using chain = await open(directory, { now: Date.now });
    await chain.append({ type: "after" });
    expect((await verifyLog(directory)).entries).toBe(report.entries + 1);
  });

  partTest("ordinary-user", "util-linux")(
    "a full disk fails the append and all that follow, until there is room and the log is opened again",
    async () => {
      const folder = join(scratch(), "disk");
      mkdirSync(folder);
      const inside = `mount -t tmpfs -o size=512k tmpfs '${folder}' && exec ${quoted(nodeCommand("full-disk.mjs", [folder, durability]))}`;
      const program = start("unshare", ["--mount", ...propagation(), "/bin/sh", "-c", inside]);
      expect(await program.ended).toMatchObject({ code: 0 });
      const seen = JSON.parse(program.lines[0] ?? "");
      expect(seen.failure).toEqual({ code: durability === "none" ? "CHAIN_FAILED" : "WRITE_FAILED", cause: "ENOSPC" });
      expect(seen.next).toEqual({ code: "CHAIN_FAILED", cause: "ENOSPC" });
      expect(seen.flushed).toEqual({ code: "CHAIN_FAILED", cause: "ENOSPC" });
      expect(seen.closed).toEqual({});
      expect(seen.whileFull).toMatchObject({ ok: true, notices: [] });
      expect(seen.head.sequence).toBe(seen.whileFull.entries);
      if (durability !== "none") expect(seen.whileFull.entries).toBe(seen.acknowledged);
      expect(seen.recovered).toBeNull();
      expect(seen.after).toMatchObject({ ok: true, entries: seen.whileFull.entries + 1, notices: [] });
      expect(seen.read).toBe(seen.after.entries);
    },
  );
});

/** Where / is no mount point, as in a bare chroot, unshare cannot make it private, and there is no need to. */
function propagation(): readonly string[] {
  return spawnSync("unshare", ["--mount", "true"]).status === 0 ? [] : ["--propagation", "unchanged"];
}
