import { spawnSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { hasPart, partTest } from "../../../fixtures/parts.js";
import { bin, plainEnvironment, scratchFolder, serve, shipyard, unconfined, writeConfig } from "./shipyard.js";

interface Told {
  readonly code: number | null;
  readonly stderr: string;
  readonly ok: boolean;
  readonly checks: readonly { name: string; status: string; message: string; advice?: string }[];
}

/** What a command says where `wrap` puts it. */
function inside(
  wrap: readonly string[],
  args: readonly string[],
): { code: number | null; stdout: string; stderr: string } {
  const [file = process.execPath, ...more] = [...wrap, process.execPath, bin, ...args];
  const { status, stdout, stderr } = spawnSync(file, more, { encoding: "utf8", cwd: "/", env: plainEnvironment });
  return { code: status, stdout, stderr };
}

function doctor(wrap: readonly string[], state: string, ...more: readonly string[]): Told {
  const { code, stdout, stderr } = inside(wrap, [
    "doctor",
    "--json",
    "--state",
    state,
    "--http",
    "127.0.0.1:0",
    ...more,
  ]);
  if (stdout === "") throw new Error(stderr);
  return { code, stderr, ...JSON.parse(stdout) };
}

const failing = ({ checks }: Told): readonly string[] =>
  checks.filter(({ status }) => status === "fail").map(({ name }) => name);

const check = ({ checks }: Told, wanted: string) => checks.find(({ name }) => name === wanted);

/** A server that is refused says so and leaves nothing that listens. */
function refused(wrap: readonly string[], state: string): string {
  const { code, stderr } = inside(wrap, ["serve", "--state", state, "--http", "127.0.0.1:0"]);
  expect({ code, stderr }).toMatchObject({ code: 1, stderr: expect.not.stringContaining('"listening"') });
  return stderr;
}

const outer = ["bwrap", "--dev-bind", "/", "/", "--proc", "/proc"];
const withoutBubblewrap = [...outer, "--bind", "/dev/null", "/usr/bin/bwrap"];
const withoutNamespaces = ["bwrap", "--unshare-user", "--disable-userns", ...outer.slice(1)];
const ordinaryUser = ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups"];

describe("doctor", () => {
  partTest("bubblewrap", "python3")("ends with 0 where serve would start, and serve starts", async () => {
    const state = join(scratchFolder(), "s");
    const told = doctor([], state);
    if (failing(told).includes("profile python")) {
      // A machine whose control groups this user may not write: told, and serve does as doctor says.
      expect(check(told, "profile python")?.advice).toContain("asks for less");
      expect(refused([], state)).toContain("cannot be held");
      return;
    }
    expect({ failing: failing(told), code: told.code, ok: told.ok }).toEqual({ failing: [], code: 0, ok: true });
    expect(check(told, "interpreter")?.status).toBe("ok");
    expect(existsSync(state)).toBe(false);
    const served = await serve(["--state", state]);
    expect(failing(doctor([], state))).toEqual(["lease store"]);
    expect(await served.kill("SIGTERM")).toBe(0);
  });

  partTest("bubblewrap")("says without bubblewrap how to get it, and serve refuses", () => {
    const state = join(scratchFolder(), "s");
    const told = doctor(withoutBubblewrap, state);
    expect(told).toMatchObject({ code: 1, ok: false });
    expect(check(told, "bubblewrap")).toMatchObject({
      status: "fail",
      advice: expect.stringContaining("apt-get install"),
    });
    const refusal = refused(withoutBubblewrap, state);
    expect(refusal).toContain("apt-get install bubblewrap");
    expect(refusal.split("is not installed").length).toBe(2);
    const { stdout } = inside(withoutBubblewrap, ["doctor", "--state", state, "--http", "127.0.0.1:0"]);
    const faults = stdout.split("\n").filter((line) => /^(FAIL|note) /.test(line));
    expect(faults.length, stdout).toBeLessThan(6);
  });

  partTest("bubblewrap")("says where user namespaces are forbidden that it is them, and serve refuses", () => {
    const state = join(scratchFolder(), "s");
    const told = doctor(withoutNamespaces, state);
    expect(told).toMatchObject({ code: 1, ok: false });
    expect(check(told, "bubblewrap")?.status).toBe("ok");
    expect(check(told, "user-namespace")).toMatchObject({
      status: "fail",
      message: expect.stringMatching(/user namespace/),
    });
    expect(refused(withoutNamespaces, state)).toMatch(/user namespace/);
  });

  partTest("bubblewrap", "ordinary-user")(
    "is right for an ordinary user, with and without what it may not bound",
    (context) => {
      const folder = scratchFolder();
      chmodSync(folder, 0o777);
      const state = join(folder, "s");
      if (inside(ordinaryUser, ["--version"]).code !== 0)
        context.skip("needs a checkout that an ordinary user may read");
      const told = doctor(ordinaryUser, state);
      expect(failing(told)).toEqual(["profile python"]);
      expect(check(told, "profile python")?.message).toContain("memoryBytes");
      expect(refused(ordinaryUser, join(folder, "t"))).toContain("memoryBytes");
      const less = ["profiles: { python: { template: /usr/bin/python3, policy: { limits: { processes: 64 } } } }"];
      const config = writeConfig(folder, less);
      chmodSync(config, 0o644);
      expect(doctor(ordinaryUser, state, "--config", config)).toMatchObject({ code: 0, ok: true });
    },
  );

  it("says for an unconfined server that nothing isolates it", () => {
    const folder = scratchFolder();
    const told = doctor([], join(folder, "s"), "--config", writeConfig(folder, unconfined));
    expect(told).toMatchObject({ code: 0, ok: true });
    expect(told.checks).toContainEqual(
      expect.objectContaining({
        name: "provider",
        status: "warn",
        message: expect.stringContaining("nothing isolates it"),
      }),
    );
  });

  it.each([
    { name: "configuration", lines: ["nope: 1"], http: "127.0.0.1:0" },
    { name: "token file", lines: [...unconfined, "auth: { tokenFile: /nonexistent }"], http: "127.0.0.1:0" },
    { name: "address", lines: unconfined, http: "0.0.0.0:0" },
    {
      name: "profile python",
      lines: [...unconfined, "profiles: { python: { template: python9 } }"],
      http: "127.0.0.1:0",
    },
  ])("fails for what serve would stop with: $name", async ({ name, lines, http }) => {
    const folder = scratchFolder();
    const config = writeConfig(folder, lines);
    const args = ["--config", config, "--state", join(folder, "s"), "--http", http];
    const { code, stdout } = await shipyard(["doctor", "--json", ...args]);
    expect(code).toBe(1);
    expect(failing({ code, stderr: "", ...JSON.parse(stdout) })).toEqual([name]);
    expect((await shipyard(["serve", ...args])).code).toBeGreaterThan(0);
  });

  it("makes nothing in a state folder that is empty, and says of one that cannot be made that it cannot", () => {
    const folder = scratchFolder();
    const config = ["--config", writeConfig(folder, unconfined)];
    const empty = join(folder, "s");
    mkdirSync(empty);
    const told = doctor([], empty, ...config);
    expect(told).toMatchObject({ code: 0, ok: true });
    expect(check(told, "state folder")?.message).toBe(`${empty} is made by serve`);
    expect(readdirSync(empty)).toEqual([]);
    writeFileSync(join(folder, "file"), "");
    expect(failing(doctor([], join(folder, "file", "s"), ...config))).toEqual(["state folder"]);
    expect(readdirSync(folder).sort()).toEqual(["file", "s", "shipyard.yaml"]);
  });

  it("shows the same to a person", async () => {
    const folder = scratchFolder();
    const args = ["--config", writeConfig(folder, unconfined), "--state", join(folder, "s"), "--http", "127.0.0.1:0"];
    const { code, stdout } = await shipyard(["doctor", ...args]);
    expect({ code, last: stdout.trim().split("\n").at(-1) }).toEqual({ code: 0, last: "serve would start" });
    expect(hasPart("bubblewrap") ? stdout : "ok    bubblewrap").toContain("ok    bubblewrap");
  });
});
