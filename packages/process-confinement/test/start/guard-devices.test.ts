import { spawnSync } from "node:child_process";
import { describe, expect, it } from "vitest";
import { partTest } from "../../../../fixtures/parts.js";
import { isConfinementError } from "../../src/index.js";
import { guardDevices } from "../../src/start/guard-devices.js";
import { thisHost } from "../../src/start/host.js";

const findOnly =
  (...names: readonly string[]) =>
  (name: string): string | undefined =>
    names.includes(name) ? `/bin/${name}` : undefined;

describe("the guard of the machine's devices", () => {
  it("is perl, else util-linux, for who owns the devices", () => {
    const byPerl = guardDevices(true, { arch: "arm64", findTool: findOnly("perl", "unshare", "mount") });
    expect([byPerl.before[0], byPerl.steps]).toEqual(["/bin/perl", ["[ ! -w /dev ]"]]);
    expect(byPerl.before[2]).toContain("syscall(40, $dev, $dev, 0, 0x5000, 0)");
    expect(guardDevices(true, { arch: "x64", findTool: findOnly("unshare", "mount") })).toEqual({
      before: ["/bin/unshare", "--mount", "--"],
      steps: ["/bin/mount --rbind -o ro,nosuid,noexec /dev /dev", "[ ! -w /dev ]"],
    });
  });

  it("does nothing for who does not own them, and needs no tool then", () => {
    expect(guardDevices(false, { arch: "x64", findTool: () => undefined })).toEqual({ before: [], steps: [] });
  });

  it.each([[], ["unshare"], ["mount"]])("refuses a sandbox with only %s", (...names) => {
    let refusal: unknown;
    try {
      guardDevices(true, { arch: "x64", findTool: findOnly(...names) });
    } catch (error) {
      refusal = error;
    }
    const seen = isConfinementError(refusal) && [refusal.code, refusal.cure];
    expect(seen).toEqual(["CONFINEMENT_UNAVAILABLE", "install one of them: apt-get install perl-base"]);
  });

  partTest("ordinary-user", "util-linux")("leaves devices that work and cannot be changed, in both ways", () => {
    const { arch, findTool } = thisHost();
    const ways = [findTool, (name: string) => (name === "perl" ? undefined : findTool(name))];
    for (const way of ways) {
      const { before, steps } = guardDevices(true, { arch, findTool: way });
      const script = `${steps.join(" && ")} && echo x >/dev/null && ! chmod 666 /dev/null 2>/dev/null && echo held`;
      const [file = "", ...args] = [...before, "/bin/sh", "-c", script];
      const run = spawnSync(file, args, { encoding: "utf8", env: {} });
      expect([run.stdout, run.stderr]).toEqual(["held\n", ""]);
    }
    expect(spawnSync("/bin/chmod", ["666", "/dev/null"]).status).toBe(0);
  });
});
