import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { itExports, itNamesTests, itPacks, packageOf } from "../../../fixtures/package-promises.js";

const tested = packageOf(import.meta.url);

describe("the built package", () => {
  itExports(tested, {
    ".": [
      "CommandError",
      "Option",
      "createClosers",
      "createLogger",
      "examplesText",
      "exitCodes",
      "isCommandError",
      "listenForExit",
      "printJson",
      "printJsonLine",
      "printJsonText",
      "printLine",
      "runProgram",
      "say",
      "untilAborted",
    ],
    "./audit": ["printNewestEntries", "printVerification"],
    "./config": ["checkForm", "describeProblems", "readDocument"],
    "./doctor": ["showChecks"],
    "./http": [
      "BodyRefusal",
      "NotJson",
      "createBodyReader",
      "createCounter",
      "createHistogram",
      "familyText",
      "isForeignPage",
      "isLoopback",
      "issueToken",
      "listen",
      "namesServed",
      "readHttpAddress",
      "refuseOpenDoor",
    ],
  });
  itPacks(tested);

  it("loads no more at the start than commander: the log and YAML come when they are needed", () => {
    const imported = (file: string): string[] => {
      const found = [...tested.text(`dist/${file}`).matchAll(/^(?:import .*|export .*|\} )from "([^"]+)";$/gm)].map(
        ([, name = ""]) => name,
      );
      return found.flatMap((name) => (name.startsWith("./") ? imported(name.slice(2)) : [name]));
    };
    expect([...new Set(imported("index.js"))]).toEqual(["commander"]);
  });
});

describe("the README", () => {
  it("holds the quickstart word for word, and the quickstart runs", () => {
    expect(tested.text("README.md")).toContain(tested.text("examples/quickstart.js").trim());
    const run = spawnSync(process.execPath, [join(tested.root, "examples/quickstart.js")], { encoding: "utf8" });
    expect([run.status, run.stderr, run.stdout]).toEqual([
      3,
      "ferry: the harbour is closed\n  it opens at 6\n",
      "waiting for the tide\n",
    ]);
  });

  itNamesTests(tested, 5);
});
