import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { bin, plainEnvironment, scratchFolder } from "../shipyard.js";

/** The bound of a minute as ten milliseconds; every other timer as it is. */
const hurry =
  "const real = setTimeout; globalThis.setTimeout = (run, ms, ...more) => real(run, ms === 60_000 ? 10 : ms, ...more);";

it.each([
  {
    name: "a factory",
    text: "export const make = () => new Promise(() => {});",
    told: (file: string) => `the promise that make of ${file} returned did not settle within 60 seconds`,
  },
  {
    name: "a module",
    text: "await new Promise(() => {}); export const make = 1;",
    told: (file: string) => `the import of ${file} (an await at its top level) did not settle within 60 seconds`,
  },
])("$name that never settles ends the command with 1, and it says what it waited for", ({ text, told }) => {
  const file = join(scratchFolder(), "app.mjs");
  writeFileSync(file, text);
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [
      `--import=data:text/javascript,${encodeURIComponent(hurry)}`,
      bin,
      "serve",
      "--application",
      `${file}:make`,
      "--principal",
      "ada",
    ],
    { env: plainEnvironment, encoding: "utf8", timeout: 30_000 },
  );
  expect({ status, stdout }).toEqual({ status: 1, stdout: "" });
  expect(stderr).toContain(told(file));
});
