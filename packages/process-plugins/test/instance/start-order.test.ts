import { appendFileSync, cpSync, existsSync, renameSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { InstanceOptions } from "../../src/instance/instance.js";
import type { PluginEvent } from "../../src/instance/plugin-event.js";
import { inspectPlugin } from "../../src/tree/inspect-plugin.js";
import { rejection } from "../support/rejection.js";
import { processesOf } from "./processes-of.js";
import { type Observed, observe, pythonPlugin } from "./scripted-plugin.js";

/** Leaves a file in its data folder as soon as it runs. */
const canary = pythonPlugin('open(os.environ["PLUGIN_DATA"] + "/ran", "w").close()');

function hasRun({ dataFolder }: Observed): boolean {
  return existsSync(join(dataFolder, "ran"));
}

const bothModes = [{ allowUnconfined: false }, { allowUnconfined: true }];

it.each(bothModes)("the canary is seen where nothing refuses: unconfined $allowUnconfined", async (mode) => {
  const observed = await observe(canary);
  await observed.open(mode);
  expect(hasRun(observed)).toBe(true);
});

describe.each(bothModes)("nothing is spawned when an earlier step refuses: unconfined $allowUnconfined", (mode) => {
  const rows: readonly {
    readonly name: string;
    readonly code: string;
    readonly events: readonly string[];
    readonly options: (observed: Observed) => Partial<InstanceOptions>;
  }[] = [
    {
      name: "an option out of its range",
      code: "OPTION_INVALID",
      events: [],
      options: () => ({ limits: { maxCalls: 0 } }),
    },
    {
      name: "a folder that changed since it was inspected",
      code: "PLUGIN_CHANGED",
      events: ["plugin.rejected"],
      options: ({ folder }) => {
        appendFileSync(join(folder, "bin/plugin"), "\n# changed\n");
        return {};
      },
    },
    {
      name: "a file more since it was inspected",
      code: "PLUGIN_CHANGED",
      events: ["plugin.rejected"],
      options: ({ folder }) => {
        appendFileSync(join(folder, "sitecustomize.py"), "import os\n");
        return {};
      },
    },
    {
      name: "an executable that is swapped after it was measured and recorded",
      code: "PLUGIN_CHANGED",
      events: ["plugin.admitted", "plugin.rejected"],
      options: ({ folder, events }) => ({
        record: (event) => {
          if (event.type === "plugin.admitted") appendFileSync(join(folder, "bin/plugin"), "\n# swapped\n");
          events.push(event);
        },
      }),
    },
    {
      name: "a folder in whose place another one is put after it was measured and recorded",
      code: "PLUGIN_CHANGED",
      events: ["plugin.admitted", "plugin.rejected"],
      options: ({ folder, events }) => ({
        record: (event) => {
          if (event.type === "plugin.admitted") {
            cpSync(folder, `${folder}-other`, { recursive: true });
            appendFileSync(join(`${folder}-other`, "bin/plugin"), "\n# another\n");
            renameSync(folder, `${folder}-moved`);
            renameSync(`${folder}-other`, folder);
          }
          events.push(event);
        },
      }),
    },
    {
      name: "a record that cannot be written",
      code: "NOT_RECORDED",
      events: [],
      options: () => ({ record: () => Promise.reject(new Error("disk full")) }),
    },
    {
      name: "a record that throws",
      code: "NOT_RECORDED",
      events: [],
      options: () => ({
        record: () => {
          throw new Error("no");
        },
      }),
    },
    {
      name: "a data folder in the plugin's own",
      code: "OPTION_INVALID",
      events: ["plugin.admitted", "plugin.ended"],
      options: ({ folder }) => ({ dataFolder: join(folder, "data") }),
    },
  ];
  it.each(rows)("$name", async ({ code, events, options }) => {
    const observed = await observe(canary);
    const error = await rejection(observed.open({ ...options(observed), ...mode }));
    expect(error.code).toBe(code);
    expect(observed.events.map(({ type }) => type)).toEqual(events);
    expect(hasRun(observed)).toBe(false);
    expect(processesOf(observed.folder)).toEqual([]);
  });

  it("a start that is aborted while it is recorded", async () => {
    const observed = await observe(canary);
    const abort = new AbortController();
    const reason = new Error("enough");
    const record = (): void => abort.abort(reason);
    await expect(observed.open({ ...mode, signal: abort.signal, record })).rejects.toBe(reason);
    expect(hasRun(observed)).toBe(false);
  });

  it("a start that is aborted after it was recorded has its end on record", async () => {
    const observed = await observe(canary);
    const abort = new AbortController();
    const reason = new Error("enough");
    const record = (event: PluginEvent): void => {
      observed.events.push(event);
      if (event.type === "plugin.admitted") abort.abort(reason);
    };
    await expect(observed.open({ ...mode, signal: abort.signal, record })).rejects.toBe(reason);
    expect(observed.events.map(({ type }) => type)).toEqual(["plugin.admitted", "plugin.ended"]);
    expect(hasRun(observed)).toBe(false);
  });

  it("a start that is aborted before it began", async () => {
    const observed = await observe(canary);
    const reason = new Error("enough");
    await expect(observed.open({ ...mode, signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
    expect(hasRun(observed)).toBe(false);
  });
});

it("both digests of a changed plugin are recorded", async () => {
  const observed = await observe(canary);
  const before = await inspectPlugin(observed.folder);
  appendFileSync(join(observed.folder, "bin/plugin"), "\n");
  await rejection(observed.open());
  const after = await inspectPlugin(observed.folder);
  expect(observed.events).toMatchObject([{ code: "PLUGIN_CHANGED", expected: before.digest, measured: after.digest }]);
});
