import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import { fileURLToPath } from "node:url";
import { describe, expect, onTestFinished } from "vitest";
import { type DiskExcess, type WatchOptions, watchFolders } from "../../src/disk-watch/watch-folders.js";
import { bounded, start } from "../limits/bounded.js";
import { freezerVersions, onlyVersion } from "../limits/freezers.js";
import { groupsTest } from "../limits/groups-test.js";
import { sandboxesOfThisFile } from "../sandboxes.js";
import { scratchFolder } from "./trees.js";

const mib = 2 ** 20;
const maxBytes = 32 * mib;
const evader = fileURLToPath(new URL("../programs/move-past-walk.py", import.meta.url));
/** What it holds in the end, in steps of so much. */
const [mostMib, stepMib] = [128, 16];
const sandboxes = sandboxesOfThisFile();

/** Resolves with the alarm; the watch ends with the test. */
function alarm(options: Omit<WatchOptions, "onExcess">): Promise<DiskExcess> {
  return new Promise((resolve) => {
    const watch = watchFolders({ ...options, onExcess: resolve });
    onTestFinished(() => watch.close());
  });
}

/** The MiB that it says to hold, until it holds so many or ends. */
async function untilHeld(stdout: Readable | null, heldMib: number): Promise<number> {
  let held = 0;
  if (stdout === null) return held;
  for await (const line of createInterface({ input: stdout })) {
    held = Number(line);
    if (held >= heldMib) break;
  }
  return held;
}

describe.each(freezerVersions.map((version) => ({ version })))(
  "with control groups of version $version",
  ({ version }) => {
    const evading = async (): Promise<{ folder: string; freezer: WatchOptions["freezer"]; child: ChildProcess }> => {
      const folder = scratchFolder();
      const { groups, prefix } = bounded({ diskBytes: maxBytes }, undefined, onlyVersion(version));
      const child = await start([...prefix, "python3", evader, folder, `${stepMib}`, `${mostMib}`]);
      return { folder, freezer: groups.freezer, child };
    };

    groupsTest(
      "what a program moves past the walk is not seen while it runs, and is seen once it stands still",
      async () => {
        const { folder, freezer, child } = await evading();
        const unfrozen = watchFolders({
          folders: [{ path: folder, maxBytes }],
          onExcess: () => expect.unreachable(),
        });
        expect(await untilHeld(child.stdout, mostMib)).toBe(mostMib);
        await unfrozen.close();
        expect(await alarm({ folders: [{ path: folder, maxBytes }], freezer })).toEqual({
          path: folder,
          reason: `it holds more than ${maxBytes} bytes`,
        });
        child.kill("SIGKILL");
        await once(child, "exit");
      },
    );
  },
);
void sandboxes;
