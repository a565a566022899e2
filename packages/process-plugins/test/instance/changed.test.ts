import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { rejection } from "../support/rejection.js";
import { processesOf } from "./processes-of.js";
import { observe, pythonPlugin } from "./scripted-plugin.js";

/** Notes what it is asked in its data folder. */
const notes = (request: string): string => `
with open(os.environ["PLUGIN_DATA"] + "/asked", "a") as asked: asked.write(${request}["method"] + "\\n")`;

it("one that swaps its own executable before it answers create is ended, and never started", async () => {
  const observed = await observe(
    pythonPlugin(`
for request in requests():${notes("request").replaceAll("\n", "\n    ")}
    if request["method"] == "ave/instance/create":
        with open(__file__, "a") as own: own.write("# swapped\\n")
    usual(request)
`),
  );
  const error = await rejection(observed.open({ allowUnconfined: true }));
  expect(error.code).toBe("PLUGIN_CHANGED");
  expect(readFileSync(join(observed.dataFolder, "asked"), "utf8")).toBe("ave/instance/create\n");
  expect(observed.events.map(({ type }) => type)).toEqual(["plugin.admitted", "plugin.rejected", "plugin.ended"]);
  expect(observed.events.at(-1)).toMatchObject({ reason: "changed", confirmed: true });
  expect(processesOf(observed.folder)).toEqual([]);
});

it("one whose folder somebody else changes while it starts is ended, and never started", async () => {
  const observed = await observe(
    pythonPlugin(`
os.write(2, b"up\\n")
while not os.path.exists(os.environ["PLUGIN_ROOT"] + "/more"): time.sleep(0.005)
for request in requests():${notes("request").replaceAll("\n", "\n    ")}
    usual(request)
`),
  );
  const onLog = ({ text }: { readonly text: string }): void => {
    if (text === "up") writeFileSync(join(observed.folder, "more"), "");
  };
  expect((await rejection(observed.open({ onLog }))).code).toBe("PLUGIN_CHANGED");
  expect(readFileSync(join(observed.dataFolder, "asked"), "utf8")).toBe("ave/instance/create\n");
  expect(observed.events.at(-1)).toMatchObject({ type: "plugin.ended", reason: "changed", confirmed: true });
});

it("the same plugin, unchanged, starts again and again with the digest that was admitted", async () => {
  const observed = await observe(pythonPlugin('open(os.environ["HOME"] + "/note", "w").close()'));
  for (let n = 0; n < 3; n += 1) await (await observed.open()).close();
  const digests = observed.events.flatMap((event) => (event.type === "plugin.admitted" ? [event.digest] : []));
  expect(new Set(digests).size).toBe(1);
});
