// An inner file: each fault of a policy, without a machine that can confine.
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, describe, expect, it } from "vitest";
import { ConfinementError, type ConfinementPolicy } from "../../src/index.js";
import { placeMounts } from "../../src/plan/place-mounts.js";
import { readSystemTree } from "../../src/plan/system-tree.js";
import { limitRanges } from "../../src/reading/read-limits.js";
import { readPolicy } from "../../src/reading/read-policy.js";

const scratch = realpathSync(mkdtempSync(join(tmpdir(), "berth-policy-")));
afterAll(() => rmSync(scratch, { recursive: true, force: true }));
const folder = join(scratch, "folder");
mkdirSync(folder);
writeFileSync(join(scratch, "file"), "");
symlinkSync(folder, join(scratch, "link"));
symlinkSync("/proc", join(scratch, "to-proc"));

const faultOf = (run: () => unknown): ConfinementError => {
  try {
    run();
  } catch (error) {
    if (error instanceof ConfinementError) return error;
    throw error;
  }
  throw new Error("nothing was refused");
};

describe("a policy", () => {
  const mib = 2 ** 20;
  it.each([
    { title: "no object", policy: 7, field: "policy", says: "an object, not 7" },
    { title: "a misspelled member", policy: { readonly: [] }, field: "policy.readonly", says: "known are readOnly" },
    { title: "no list", policy: { readOnly: "x" }, field: "readOnly", says: "an array of at most 256 paths" },
    {
      title: "a relative source",
      policy: { readOnly: [{ source: "usr" }] },
      field: "readOnly[0].source",
      says: '"usr"',
    },
    {
      title: "a source with ..",
      policy: { readOnly: [{ source: "/srv/../etc" }] },
      field: "readOnly[0].source",
      says: "absolute path",
    },
    {
      title: "a source with NUL",
      policy: { readOnly: [{ source: "/srv\0" }] },
      field: "readOnly[0].source",
      says: "NUL",
    },
    {
      title: "a source that is not there",
      policy: { readOnly: [{ source: "/nowhere/x" }] },
      field: "readOnly[0].source",
      code: "PATH_NOT_FOUND",
      says: "/nowhere/x",
    },
    {
      title: "the root as a source",
      policy: { readOnly: [{ source: "/" }] },
      field: "readOnly[0].source",
      says: "outside of /",
    },
    {
      title: "the host's processes",
      policy: { readOnly: [{ source: "/proc/1" }] },
      field: "readOnly[0].source",
      says: "/proc",
    },
    {
      title: "a link to them",
      policy: { readWrite: [{ source: join(scratch, "to-proc") }] },
      field: "readWrite[0].source",
      says: "/proc",
    },
    {
      title: "the host's devices",
      policy: { readOnly: [{ source: "/dev/null" }] },
      field: "readOnly[0].source",
      says: "/dev",
    },
    {
      title: "a relative target",
      policy: { readOnly: [{ source: folder, target: "x" }] },
      field: "readOnly[0].target",
      says: '"x"',
    },
    {
      title: "a target with ..",
      policy: { readOnly: [{ source: folder, target: "/a/../b" }] },
      field: "readOnly[0].target",
      says: "..",
    },
    {
      title: "a bound for what cannot be written",
      policy: { readOnly: [{ source: folder, maxBytes: mib }] },
      field: "readOnly[0].maxBytes",
      says: "left out",
    },
    {
      title: "a bound that is too small",
      policy: { readWrite: [{ source: folder, maxBytes: 1 }] },
      field: "readWrite[0].maxBytes",
      says: "from 1048576",
    },
    {
      title: "a workspace of no kind",
      policy: { workspace: { kind: "disk" } },
      field: "workspace.kind",
      says: "folder, memory",
    },
    {
      title: "a workspace that is a file",
      policy: { workspace: { kind: "folder", source: join(scratch, "file") } },
      field: "workspace.source",
      says: "a folder",
    },
    {
      title: "a memory workspace without a size",
      policy: { workspace: { kind: "memory" } },
      field: "workspace.maxBytes",
      says: "from 1048576 to 68719476736",
    },
    {
      title: "a memory workspace with a source",
      policy: { workspace: { kind: "memory", maxBytes: mib, source: folder } },
      field: "workspace.source",
      says: "not known",
    },
    { title: "a small /tmp", policy: { tmpBytes: 1 }, field: "tmpBytes", says: "from 65536" },
    {
      title: "a network of no mode",
      policy: { network: { mode: "internet" } },
      field: "network.mode",
      says: "none, allowlist",
    },
    {
      title: "an allowlist without a socket",
      policy: { network: { mode: "allowlist" } },
      field: "network.socket",
      says: "a string",
    },
    {
      title: "an allowlist with a file as socket",
      policy: { network: { mode: "allowlist", socket: join(scratch, "file") } },
      field: "network.socket",
      says: "a unix socket",
    },
    { title: "a misspelled limit", policy: { limits: { memory: 1 } }, field: "limits.memory", says: "memoryBytes" },
    {
      title: "a disk bound without a folder",
      policy: { limits: { diskBytes: mib } },
      field: "limits.diskBytes",
      says: "kind folder",
    },
  ])("with $title is refused with the field, the value and the limit", ({ policy, field, code, says }) => {
    const input: ConfinementPolicy = JSON.parse(JSON.stringify(policy));
    const fault = faultOf(() => readPolicy(input));
    expect([fault.code, fault.field]).toEqual([code ?? "POLICY_INVALID", field]);
    expect(fault.message).toContain(says);
  });

  it.each(Object.entries(limitRanges))("holds the limit %s in its range", (name, { least, most }) => {
    const read = (value: number): unknown =>
      readPolicy({ workspace: { kind: "folder", source: folder }, limits: { [name]: value } });
    for (const good of [least, most]) expect(read(good)).toMatchObject({ limits: { [name]: good } });
    for (const bad of [least - 1, most + 1, Number.NaN, least + 0.5 - (name === "cpus" ? 1 : 0)])
      expect(faultOf(() => read(bad))).toMatchObject({ code: "POLICY_INVALID", field: `limits.${name}` });
  });

  it("has its sources resolved once, and keeps the name as the target", () => {
    const link = join(scratch, "link");
    const { binds } = readPolicy({ readOnly: [{ source: link }], workspace: { kind: "folder", source: link } });
    expect(binds).toMatchObject([
      { source: folder, target: link, access: "read" },
      { source: folder, target: "/workspace", access: "write" },
    ]);
  });

  it("takes a socket for an allowlist", async () => {
    const socket = join(scratch, "egress.sock");
    const server = createServer();
    await new Promise<void>((resolve) => void server.listen(socket, resolve));
    expect(readPolicy({ network: { mode: "allowlist", socket } }).egress).toEqual({ socket, forwarder: "helper" });
    server.close();
  });

  it("takes no path but an absolute one in its shortest form", () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom("", ".", "..", "a", "srv", "...")), fc.boolean(), (parts, isAbsolute) => {
        const target = `${isAbsolute ? "/" : ""}${parts.join("/")}`;
        const isPlain = target === "/" || /^(?:\/(?!\.{1,2}(?:\/|$))[^/]+)+$/.test(target);
        const read = (): unknown => readPolicy({ readOnly: [{ source: folder, target }] });
        if (isPlain) expect(read()).toBeDefined();
        else expect(faultOf(read)).toMatchObject({ code: "POLICY_INVALID", field: "readOnly[0].target" });
      }),
    );
  });
});

describe("targets", () => {
  const place = (targets: readonly string[], trees: readonly string[] = []): unknown => {
    const { binds } = readPolicy({ readOnly: targets.map((target) => ({ source: folder, target })) });
    const asked = binds.map(({ field, source, target }) => ({
      field,
      mount: { kind: "read" as const, source, target },
    }));
    return placeMounts(readSystemTree(), asked, trees);
  };

  it.each([
    "/",
    "/proc",
    "/proc/self",
    "/dev",
    "/dev/shm",
    "/sys",
    "/usr",
    "/usr/local/x",
    "/bin",
    "/lib",
    "/lib64/x",
    "/etc",
    "/etc/passwd",
    "/etc/ssl",
    "/tmp",
  ])("that hide or change what is the system's are refused: %s", (target) => {
    expect(faultOf(() => place([target]))).toMatchObject({ code: "POLICY_INVALID", field: "readOnly[0]" });
  });

  it.each([{ targets: ["/a", "/a"] }, { targets: ["/a", "/a/b"] }, { targets: ["/a/b/c", "/a"] }])(
    "that lie in one another are refused: $targets",
    ({ targets }) => {
      expect(faultOf(() => place(targets))).toMatchObject({ code: "POLICY_INVALID", field: "readOnly[1]" });
    },
  );

  it("that hide the program's own trees are refused", () => {
    expect(faultOf(() => place(["/opt/python/lib"], ["/opt/python"]))).toMatchObject({ field: "readOnly[0]" });
    expect(faultOf(() => place(["/opt"], ["/opt/python"]))).toMatchObject({ field: "readOnly[0]" });
  });

  it("that have nothing to do with one another are taken", () => {
    const targets = ["/a", "/ab", "/srv/x", "/tmp/x", "/etc/app.conf", "/run/app/x.sock"];
    expect(() => place(targets, ["/opt/python"])).not.toThrow();
  });

  it("show a tree of the program's that the policy shows at its own path already only once", () => {
    const { binds } = readPolicy({ readOnly: [{ source: folder }] });
    const asked = binds.map(({ field, source, target }) => ({
      field,
      mount: { kind: "read" as const, source, target },
    }));
    const mounts = placeMounts([], asked, [folder, join(folder, "python")]);
    expect(mounts).toEqual([{ kind: "read", source: folder, target: folder }]);
  });
});
