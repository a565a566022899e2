import { existsSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { partTest } from "../../../../fixtures/parts.js";
import type { ConfineCommand, LaunchPolicy } from "../../src/launcher/index.js";
import { launchText, readLaunch, sandboxPolicy } from "../../src/launcher/launch-text.js";

// The built one: what it starts lies beside it.
const { confine }: { readonly confine: ConfineCommand } = await import("@berth/process-confinement/launcher");
const policy: LaunchPolicy = { name: "test", readable: [], writable: [], network: "none", cwd: "/tmp" };

describe("confine", () => {
  partTest("bubblewrap")("gives Node, a program that is there, the policy, and the command as it was", async () => {
    const command = ["/usr/bin/env", "--", "a b", ""];
    const { argv, confinement } = await confine(command, policy);
    const [node, launcher = "", text, ...rest] = argv;
    expect([node, existsSync(launcher), confinement]).toEqual([process.execPath, true, "bubblewrap"]);
    expect([readLaunch(text), rest]).toEqual([{ name: "test", readable: [], writable: [], cwd: "/tmp" }, command]);
  });

  it.each<{ readonly name: string; readonly change: object; readonly fault: object }>([
    {
      name: "the network of the host",
      change: { network: "host" },
      fault: { code: "POLICY_INVALID", field: "network", message: 'network must be one of none, not "host"' },
    },
    { name: "a relative path", change: { readable: ["/a", "b"] }, fault: { field: "readable[1]" } },
    { name: "a path with two dots", change: { writable: ["/a/../b"] }, fault: { field: "writable[0]" } },
    { name: "a folder that is no path", change: { cwd: "here" }, fault: { field: "cwd" } },
    { name: "no list", change: { readable: "/a" }, fault: { field: "readable" } },
    { name: "a misspelled member", change: { writeable: [] }, fault: { field: "policy.writeable" } },
    {
      name: "more than one argument can hold",
      change: { readable: Array.from({ length: 2_000 }, (_, n) => `/${n}/${"x".repeat(60)}`) },
      fault: { field: "policy", message: /at most 131071 bytes/u },
    },
  ])("refuses $name", async ({ change, fault }) => {
    const refused = confine(["/bin/true"], { ...policy, ...change });
    await expect(refused).rejects.toMatchObject({ code: "POLICY_INVALID", ...fault });
  });

  it.each<{ readonly name: string; readonly argv: readonly string[]; readonly field: string }>([
    { name: "no command", argv: [], field: "argv[0]" },
    { name: "a program that would be looked up", argv: ["python3"], field: "argv[0]" },
    { name: "an argument with NUL", argv: ["/bin/true", "\0"], field: "args[0]" },
  ])("refuses $name", async ({ argv, field }) => {
    await expect(confine(argv, policy)).rejects.toMatchObject({ code: "SANDBOX_OPTION_INVALID", field });
  });

  it("says which networks it gives", () => {
    expect(confine.networks).toEqual(["none"]);
  });
});

describe("what the launcher is told", () => {
  it("comes back as it was, whatever is in it", () => {
    const texts = fc.array(fc.string({ unit: "binary" }));
    const launches = fc.record({ name: fc.string(), readable: texts, writable: texts, cwd: fc.string() });
    fc.assert(
      fc.property(launches, (launch) => {
        expect(readLaunch(launchText({ ...launch, network: "none" }))).toEqual(launch);
      }),
    );
  });

  it("is nothing when it is anything else", () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.json()), (text) => {
        expect(readLaunch(text)).toBeUndefined();
      }),
    );
    expect(readLaunch(undefined)).toBeUndefined();
  });

  it.each([
    { name: "a tree inside of another", readable: ["/a/b", "/a", "/ab"], shown: ["/a", "/ab"] },
    { name: "the same twice", readable: ["/a", "/a"], shown: ["/a"] },
    { name: "the system's own", readable: ["/usr/lib/python3", "/lib64", "/library"], shown: ["/library"] },
  ])("is bound once: $name", ({ readable, shown }) => {
    const { readOnly, readWrite } = sandboxPolicy({ name: "", readable, writable: ["/w/v", "/w"], cwd: "/" });
    expect(readOnly).toEqual(shown.map((source) => ({ source })));
    expect(readWrite).toEqual([{ source: "/w" }]);
  });
});
