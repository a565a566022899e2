import { existsSync } from "node:fs";
import { join } from "node:path";
import { ConfinementError } from "@berth/process-confinement";
import { describe, expect, it } from "vitest";
import type { InstanceOptions } from "../../src/instance/instance.js";
import { openInstanceWith } from "../../src/instance/open-instance.js";
import { createSelfTests } from "../../src/instance/self-tests.js";
import { inspectPlugin } from "../../src/tree/inspect-plugin.js";
import { emptyFolder, fill } from "../support/plugin-folder.js";
import { rejection } from "../support/rejection.js";
import { mcpParams, type Observed, observe, pythonPlugin, whenAsked } from "./scripted-plugin.js";

/** By the sandbox, by Python itself, and for Python by spawn-attestation. */
const mayBeAdded: ReadonlySet<unknown> = new Set(["PWD", "LC_CTYPE"]);

/** Leaves a file in its data folder as soon as it runs. */
const canary = pythonPlugin('open(os.environ["PLUGIN_DATA"] + "/ran", "w").close()');

function hasRun({ dataFolder }: Observed): boolean {
  return existsSync(join(dataFolder, "ran"));
}

it("a confined plugin sees its folder, its data and nothing of the host; the same one unconfined does", async () => {
  const secrets = fill(emptyFolder(), { secret: "hidden" });
  const look = `
seen = {"secret": os.path.exists(request["params"]["secret"]), "data": os.environ["PLUGIN_DATA"], "home": os.path.isdir(os.environ["HOME"]), "tmp": os.path.isdir(os.environ["TMPDIR"]), "cwd": os.getcwd(), "names": sorted(os.environ)}
answer(request, {"resultType": "complete", **seen})`;
  const observed = await observe(whenAsked("tools/call", look));
  const params = mcpParams({ secret: join(secrets, "secret") });
  const names = [
    "AVE_PROTOCOL",
    "HOME",
    "LANG",
    "LC_ALL",
    "PATH",
    "PLUGIN_DATA",
    "PLUGIN_NAME",
    "PLUGIN_ROOT",
    "TMPDIR",
    "TZ",
  ];
  const confined = await observed.open();
  const inside = await confined.request("tools/call", params);
  const known = Array.isArray(inside["names"]) ? inside["names"].filter((name) => !mayBeAdded.has(name)) : [];
  expect({ ...inside, names: known }).toEqual({
    ...{
      resultType: "complete",
      secret: false,
      data: "/plugin-data",
      home: true,
      tmp: true,
      cwd: observed.folder,
      names,
    },
  });
  await confined.close();
  const unconfined = await observed.open({ allowUnconfined: true });
  expect(await unconfined.request("tools/call", params)).toMatchObject({
    secret: true,
    data: observed.dataFolder,
    home: true,
  });
});

describe("without a sandbox that holds", () => {
  const failing = (): ReturnType<typeof createSelfTests> =>
    createSelfTests(() =>
      Promise.reject(new ConfinementError("CONFINEMENT_UNAVAILABLE", "no bubblewrap here", { cure: "install it" })),
    );
  const optionsOf = async (observed: Observed): Promise<InstanceOptions> => ({
    plugin: await inspectPlugin(observed.folder),
    dataFolder: observed.dataFolder,
    host: { name: "test", version: "1" },
    record: (event) => void observed.events.push(event),
  });

  it("a plugin does not run, and what to do is told", async () => {
    const observed = await observe(canary);
    const error = await rejection(openInstanceWith({ selfTests: failing() }, await optionsOf(observed)));
    expect(error).toMatchObject({ code: "CONFINEMENT_UNAVAILABLE", advice: "install it" });
    expect(observed.events).toEqual([
      { type: "plugin.rejected", plugin: "smoke", code: "CONFINEMENT_UNAVAILABLE", problems: ["no bubblewrap here"] },
    ]);
    expect(hasRun(observed)).toBe(false);
  });

  it("it runs when it is told to, and each event says so", async () => {
    const observed = await observe(canary);
    const options = await optionsOf(observed);
    await using instance = await openInstanceWith({ selfTests: failing() }, { ...options, allowUnconfined: true });
    expect(instance.confinement).toBe("unconfined");
    expect(observed.events[0]).toMatchObject({ type: "plugin.admitted", confinement: "unconfined" });
    expect(hasRun(observed)).toBe(true);
  });
});

describe("the self-test", () => {
  it("is made once for the same limits, whoever asks, and its failure is not kept", async () => {
    const runs: string[] = [];
    let fails = true;
    const tests = createSelfTests(async ({ limits = [] } = {}) => {
      runs.push(limits.join());
      if (fails) throw new ConfinementError("CONFINEMENT_UNAVAILABLE", "not yet", { cure: "" });
      return { usable: true, bubblewrap: undefined, findings: [], limits: [] };
    });
    await expect(tests.passed({}, undefined)).rejects.toThrow("not yet");
    fails = false;
    await Promise.all([tests.passed({}, undefined), tests.passed({}, undefined)]);
    await tests.passed({ processes: 8 }, undefined);
    await tests.passed({ processes: 9 }, undefined);
    expect(runs).toEqual(["", "", "processes"]);
  });

  it("goes on for others when one that waits is aborted", async () => {
    let end: () => void = () => {};
    const over = new Promise<void>((resolve) => {
      end = resolve;
    });
    const tests = createSelfTests(async () => {
      await over;
      return { usable: true, bubblewrap: undefined, findings: [], limits: [] };
    });
    const abort = new AbortController();
    const first = tests.passed({}, abort.signal);
    const second = tests.passed({}, undefined);
    abort.abort(new Error("enough"));
    await expect(first).rejects.toThrow("enough");
    end();
    await second;
  });
});
