import { readdirSync, readFileSync, renameSync } from "node:fs";
import { join } from "node:path";
import { openSandbox, type Sandbox, type SandboxOptions } from "@berth/process-confinement";
import { describe, expect } from "vitest";
import { partTest } from "../../../../fixtures/parts.js";
import {
  createOneByOne,
  createPluginSandboxes,
  keptMs,
  type PluginSandboxes,
} from "../../src/confine/plugin-sandboxes.js";
import { holdTimers } from "../instance/held-scheduler.js";
import { emptyFolder, fill } from "../support/plugin-folder.js";

const it = partTest("bubblewrap");

interface Observed extends AsyncDisposable {
  readonly sandboxes: PluginSandboxes;
  /** Sandboxes that were opened although one could have waited. */
  readonly fresh: () => number;
  /** Ends the time for which one is kept. */
  readonly letGoOld: () => number;
}

function observe(): Observed {
  let fresh = 0;
  const { scheduler, fire } = holdTimers(keptMs);
  const openFresh = (options: SandboxOptions): Promise<Sandbox> => {
    fresh += 1;
    return openSandbox(options);
  };
  const sandboxes = createPluginSandboxes({ openFresh, scheduler, oneByOne: atOnce });
  return { sandboxes, fresh: () => fresh, letGoOld: fire, [Symbol.asyncDispose]: () => sandboxes.close() };
}

/** Nobody else makes one. */
const atOnce = (work: () => Promise<void>): void => void work().catch(() => {});

/** A sandbox that shows what is in `source`, whose path finds its processes again. */
const showing = (source: string): SandboxOptions => ({
  name: `test-${process.pid}`,
  policy: { readOnly: [{ source, target: "/srv/seen" }] },
  file: "/bin/sh",
  args: ["-c", "cat /srv/seen/word"],
  env: { PATH: "/usr/bin:/bin" },
});

async function wordOf(sandbox: Sandbox): Promise<string> {
  let word = "";
  for await (const chunk of sandbox.stdout) word += String(chunk);
  await sandbox.close();
  return word;
}

const folderWith = (word: string): string => fill(emptyFolder(), { word });

describe("the sandboxes of a plugin", () => {
  it("none waits before one was opened", async () => {
    await using observed = observe();
    observed.sandboxes.keepOne();
    expect(observed.letGoOld()).toBe(0);
  });

  it("one like the last waits for the next start, once", async () => {
    const folder = folderWith("good");
    await using observed = observe();
    const { sandboxes, fresh } = observed;
    expect(await wordOf(await sandboxes.open(showing(folder)))).toBe("good");
    sandboxes.keepOne();
    expect(await wordOf(await sandboxes.open(showing(folder)))).toBe("good");
    expect(fresh()).toBe(1);
    expect(await wordOf(await sandboxes.open(showing(folder)))).toBe("good");
    expect(fresh()).toBe(2);
  });

  it("is not used for another policy, and is ended", async () => {
    const [folder, other] = [folderWith("good"), folderWith("other")];
    await using observed = observe();
    const { sandboxes, fresh } = observed;
    await wordOf(await sandboxes.open(showing(folder)));
    const children = childrenOfThis();
    sandboxes.keepOne();
    expect(await wordOf(await sandboxes.open(showing(other)))).toBe("other");
    expect(fresh()).toBe(2);
    await sandboxes.close();
    expect(childrenOfThis()).toEqual(children);
  });

  it("does not show what was at its source before it was replaced", async () => {
    const [folder, other] = [folderWith("old"), folderWith("new")];
    await using observed = observe();
    const { sandboxes } = observed;
    await wordOf(await sandboxes.open(showing(folder)));
    sandboxes.keepOne();
    renameSync(folder, join(emptyFolder(), "moved"));
    renameSync(other, folder);
    expect(await wordOf(await sandboxes.open(showing(folder)))).toBe("new");
  });

  it("is ended when nobody came for it", async () => {
    const folder = folderWith("good");
    await using observed = observe();
    const { sandboxes, fresh, letGoOld } = observed;
    await wordOf(await sandboxes.open(showing(folder)));
    sandboxes.keepOne();
    await expect.poll(letGoOld).toBe(1);
    expect(await wordOf(await sandboxes.open(showing(folder)))).toBe("good");
    expect(fresh()).toBe(2);
  });

  it("is ended when the plugin is not to run", async () => {
    const folder = folderWith("good");
    await using observed = observe();
    const { sandboxes, letGoOld } = observed;
    await wordOf(await sandboxes.open(showing(folder)));
    sandboxes.keepOne();
    sandboxes.keepNone();
    expect(letGoOld()).toBe(0);
  });

  it("leaves nothing when it is closed, and has none wait afterwards", async () => {
    const folder = folderWith("good");
    await using observed = observe();
    const { sandboxes, letGoOld } = observed;
    await wordOf(await sandboxes.open(showing(folder)));
    const children = childrenOfThis();
    sandboxes.keepOne();
    await expect.poll(() => childrenOfThis().length).toBeGreaterThan(children.length);
    await sandboxes.close();
    expect(childrenOfThis()).toEqual(children);
    sandboxes.keepOne();
    expect(letGoOld()).toBe(0);
  });
});

it("works are done one after the other, also after one that failed", async () => {
  const oneByOne = createOneByOne();
  const steps: string[] = [];
  const work = (name: string, fault?: Error) => async (): Promise<void> => {
    steps.push(`${name} begins`);
    await Promise.resolve();
    steps.push(`${name} ends`);
    if (fault !== undefined) throw fault;
  };
  oneByOne(work("a", new Error("of a")));
  oneByOne(work("b"));
  await new Promise<void>((resolve) => {
    oneByOne(async () => resolve());
  });
  expect(steps).toEqual(["a begins", "a ends", "b begins", "b ends"]);
});

function childrenOfThis(): readonly string[] {
  return readdirSync(`/proc/${process.pid}/task`).flatMap((task) => childrenOf(task));
}

function childrenOf(task: string): readonly string[] {
  try {
    return readFileSync(`/proc/${process.pid}/task/${task}/children`, "utf8").trim().split(" ").filter(Boolean);
  } catch {
    return []; // the thread ended meanwhile
  }
}
