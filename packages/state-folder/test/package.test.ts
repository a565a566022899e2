import { describe, expect, it } from "vitest";
import {
  codesOf,
  itExports,
  itNamesTests,
  itPacks,
  itShowsQuickstart,
  packageOf,
} from "../../../fixtures/package-promises.js";

const tested = packageOf(import.meta.url);

describe("the built package", () => {
  itExports(tested, {
    ".": [
      "StateError",
      "defaultStatePath",
      "findPrivateFolder",
      "isStateError",
      "openPrivateFolder",
      "readText",
      "replaceFile",
    ],
  });
  itPacks(tested);

  it("depends on nothing", () => {
    expect(tested.manifest.dependencies).toBeUndefined();
    expect(tested.manifest.peerDependencies).toBeUndefined();
  });
});

describe("the README", () => {
  itShowsQuickstart(tested, '{"pins":[]}\n\nSTATE_NEWER\n');
  itNamesTests(tested, 6);

  it("lists every error code that the types have, and no other", () => {
    const listed = [...tested.text("README.md").matchAll(/^\| `([A-Z_]+)` +\|/gm)].map(([, code]) => code);
    expect(listed).toEqual(codesOf(tested, "StateErrorCode"));
  });
});
