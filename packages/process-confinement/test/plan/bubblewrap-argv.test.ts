// An inner file: the arguments are what confines, so each of them is pinned.
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { bubblewrapArguments, type SandboxPlan } from "../../src/plan/bubblewrap-argv.js";
import { withProxyVariables } from "../../src/plan/forwarder.js";
import type { Mount } from "../../src/plan/mounts.js";
import { startCommand } from "../../src/plan/start-script.js";

const vectors = fileURLToPath(new URL("../../../../fixtures/vectors/process-confinement/", import.meta.url));
const rewrites = process.env["BERTH_REWRITE_GOLDEN"] === "1";
const descriptors = { args: 5, status: 6, seccomp: 7, texts: [8, 9], spent: [77, 251] };

const system: readonly Mount[] = [
  { kind: "read", source: "/usr", target: "/usr" },
  { kind: "link", target: "/bin", to: "usr/bin" },
  { kind: "read", source: "/etc/ssl/certs", target: "/etc/ssl/certs" },
  { kind: "text", target: "/etc/passwd", content: "root:x:0:0::/:/bin/false\n" },
  { kind: "text", target: "/etc/hosts", content: "127.0.0.1 localhost\n" },
];
const plain: SandboxPlan = {
  mounts: system,
  tmpBytes: 65_536,
  env: [],
  cwd: "/tmp",
  asPid1: false,
  disableUserNamespaces: true,
  command: [...startCommand({ handshake: "shell", forwarder: undefined }), "/usr/bin/true"],
};

const cases: readonly { readonly name: string; readonly plan: SandboxPlan }[] = [
  { name: "plain", plan: plain },
  {
    name: "agent",
    plan: {
      ...plain,
      mounts: [
        ...system,
        { kind: "memory", target: "/workspace", bytes: 16_777_216, mode: "0755" },
        { kind: "read", source: "/opt/python", target: "/opt/python" },
        { kind: "read", source: "/srv/agent/a b.py", target: "/run/agent/guest.py" },
      ],
      env: [
        ["LANG", "C.UTF-8"],
        ["TOKEN", "--bind / /\n"],
      ],
      cwd: "/workspace",
      asPid1: true,
      command: ["/opt/python/bin/python3", "-I", "-u", "/run/agent/guest.py"],
    },
  },
  {
    name: "allowlist",
    plan: {
      ...plain,
      mounts: [
        ...system,
        { kind: "write", source: "/var/lib/berth/w/1", target: "/workspace" },
        { kind: "read", source: "/var/lib/berth/egress/1.sock", target: "/run/berth/egress.sock" },
      ],
      env: withProxyVariables([["NO_PROXY", "*"]]),
      disableUserNamespaces: false,
      command: [...startCommand({ handshake: "shell", forwarder: ["/usr/bin/socat", "it's"] }), "/usr/bin/curl", "-s"],
    },
  },
];

describe("the arguments of bubblewrap", () => {
  it.each(cases)("for the plan $name are the ones on record", ({ name, plan }) => {
    const file = `${vectors}argv-${name}.json`;
    const made = `${JSON.stringify({ descriptors, plan, ...bubblewrapArguments(plan, descriptors) }, undefined, 2)}\n`;
    if (rewrites) writeFileSync(file, made);
    expect(made).toBe(readFileSync(file, "utf8"));
  });

  it("are pinned for every plan that is on record", () => {
    const recorded = readdirSync(vectors).filter((name) => name.startsWith("argv-"));
    expect(recorded.sort()).toEqual(cases.map(({ name }) => `argv-${name}.json`).sort());
  });

  it("that every user can read name no path, no variable and no value", () => {
    for (const { plan } of cases) {
      const { argv } = bubblewrapArguments(plan, descriptors);
      expect(argv).toEqual(["--args", "5", "--args", "77", "--args", "251", "--", ...plan.command]);
    }
  });

  it("mount what lies deeper later, whatever order they come in, and make the root read-only last of all", () => {
    const targets = ["/a", "/a/b", "/a/b/c", "/d/e", "/d"];
    fc.assert(
      fc.property(fc.shuffledSubarray(targets), (order) => {
        const mounts = order.map((target) => ({ kind: "read" as const, source: "/x", target }));
        const { args } = bubblewrapArguments({ ...plain, mounts }, { ...descriptors, texts: [] });
        const placed = args.filter((_, index) => args[index - 2] === "--ro-bind");
        for (const [index, target] of placed.entries())
          expect(placed.slice(0, index).some((earlier) => earlier.startsWith(`${target}/`))).toBe(false);
        const lastMount = args.lastIndexOf("--ro-bind");
        expect(args.lastIndexOf("--remount-ro")).toBeGreaterThan(lastMount);
      }),
    );
  });

  it("leave a variable that the caller set as it is", () => {
    const env = withProxyVariables([["https_proxy", "http://127.0.0.1:9"]]);
    expect(env.filter(([name]) => name === "https_proxy")).toEqual([["https_proxy", "http://127.0.0.1:9"]]);
  });
});
