import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { readConfig } from "../../src/config/config-read.js";
import { appFolder } from "../shipyard.js";

it.each([
  { key: "packages", line: "policy: { packages: environment }", path: "profiles.python.policy.packages" },
  { key: "exposeResources", line: "policy: { exposeResources: true }", path: "profiles.python.policy.exposeResources" },
  { key: "exposedPorts", line: "policy: { exposedPorts: [80] }", path: "profiles.python.policy.exposedPorts" },
  { key: "commandTimeoutMs", line: "policy: { commandTimeoutMs: 1 }", path: "profiles.python.policy.commandTimeoutMs" },
  { key: "shell", line: "shell: true", path: "profiles.python.shell" },
])("$key of a profile is unknown and not in the README: no route would serve it", ({ key, line, path }) => {
  expect(readConfig(`profiles: { python: { ${line} } }`)).toEqual({
    ok: false,
    problems: [{ line: 1, message: `${path} is an unknown key` }],
  });
  expect(readFileSync(join(appFolder, "README.md"), "utf8")).not.toContain(`${key}:`);
});
