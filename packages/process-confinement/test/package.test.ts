import { describe, expect, it } from "vitest";
import {
  codesOf,
  itExports,
  itNamesTests,
  itPacks,
  itShowsQuickstart,
  packageOf,
} from "../../../fixtures/package-promises.js";
import { partTest } from "../../../fixtures/parts.js";
import { escapeAttempts } from "../src/escapes/index.js";
import { deniedCalls } from "../src/seccomp/calls.js";
import { growingCalls } from "../src/seccomp/growing-calls.js";

const tested = packageOf(import.meta.url);

describe("the built package", () => {
  itExports(tested, {
    ".": [
      "ConfinementError",
      "createPreparedSandboxes",
      "createSandboxStarter",
      "egressPort",
      "egressSocketPath",
      "endSandbox",
      "findInterpreter",
      "findSandbox",
      "isConfinementError",
      "limitNames",
      "limitRanges",
      "measureFolder",
      "openSandbox",
      "probe",
      "selfTest",
      "sweepControlGroups",
    ],
    "./egress": ["ConfinementError", "createDecisionTally", "createEgressProxy", "isConfinementError"],
    "./escapes": ["ConfinementError", "escapeAttempts", "isConfinementError", "runEscapes"],
    "./launcher": ["ConfinementError", "confine", "isConfinementError"],
  });
  itPacks(tested, ["python/escapes/__main__.py", "dist/launcher/program.js"]);

  it("depends on nothing", () => {
    expect([tested.manifest.dependencies, tested.manifest.peerDependencies]).toEqual([undefined, undefined]);
  });
});

describe("the README", () => {
  const readme = tested.text("README.md");
  const quoted = (text: string): readonly string[] => [...text.matchAll(/`([\w-]+)`/gu)].map(([, name = ""]) => name);

  const printed = /^hello\nls: .*No such file.*\n\{\n {2}reason: 'exited',\n {2}code: 3,/u;
  itShowsQuickstart(tested, printed, partTest("bubblewrap"));
  itNamesTests(tested, 30);

  it("lists every error code that the type has", () => {
    const codes = codesOf(tested, "ConfinementErrorCode");
    expect(codes.length).toBeGreaterThan(10);
    for (const code of codes) expect(readme).toContain(`| \`${code}\``);
  });

  it("lists every system call that is denied", () => {
    const listed = quoted(readme.slice(readme.indexOf("## System calls"), readme.indexOf("## Start and end")));
    for (const { name } of [...deniedCalls, ...growingCalls]) expect(listed).toContain(name);
  });

  it("lists every attempt to escape once, and counts them", () => {
    const kit = readme.slice(readme.indexOf("## Escapes: "));
    expect(kit).toContain(`\n${escapeAttempts.length} attempts, `);
    const rows = kit.slice(kit.indexOf("| About | Attempts |"), kit.indexOf("**What a result means.**"));
    expect(quoted(rows).toSorted()).toEqual(escapeAttempts.map(({ id }) => id).toSorted());
  });
});
