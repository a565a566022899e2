import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect } from "vitest";
import { partTest } from "../../../fixtures/parts.js";
import { ask, type Served, scratchFolder, serve, shipyard, writeConfig } from "./shipyard.js";

// Limits that hold for root and for others, with and without control groups, so that the test says nothing about these.
const sandboxed = [
  "profiles: { python: { template: /usr/bin/python3, policy: { limits: { openFiles: 256 } } } }",
  "sessions: { warmWorkers: 1 }",
];

const sandboxTest = partTest("bubblewrap", "python3");

async function run(served: Served, code: string): Promise<unknown> {
  const { body } = await ask(`${served.url}/execute`, { code });
  return body;
}

interface Process {
  readonly pid: number;
  readonly parent: number;
  /** With the number, it names one process for ever. */
  readonly startTime: string;
}

function processes(): readonly Process[] {
  return readdirSync("/proc").flatMap((name) => {
    if (!/^\d+$/.test(name)) return [];
    try {
      const stat = readFileSync(`/proc/${name}/stat`, "latin1");
      const [state, parent, ...rest] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
      return state === "Z" ? [] : [{ pid: Number(name), parent: Number(parent), startTime: rest[17] ?? "" }];
    } catch {
      return []; // gone meanwhile
    }
  });
}

function descendants(pid: number, all = processes()): readonly Process[] {
  const children = all.filter(({ parent }) => parent === pid);
  return [...children, ...children.flatMap((child) => descendants(child.pid, all))];
}

const living = (wanted: readonly Process[]): readonly Process[] =>
  processes().filter(({ pid, startTime }) => wanted.some((one) => one.pid === pid && one.startTime === startTime));

describe("a server with sandboxes", () => {
  sandboxTest("shows code its uploads at /app/uploads, and nothing of the host", async () => {
    const folder = scratchFolder();
    const uploads = join(folder, "up");
    mkdirSync(uploads, { mode: 0o700 });
    writeFileSync(join(uploads, "in.txt"), "from the host");
    const secret = join(folder, "secret.txt");
    writeFileSync(secret, "1234");
    const served = await serve([
      "--config",
      writeConfig(folder, sandboxed),
      "--state",
      join(folder, "s"),
      "--uploads",
      uploads,
    ]);
    expect(readFileSync(secret, "utf8")).toBe("1234"); // the control: the file is there for who may read it
    const code = [
      "import os",
      "print(open('/app/uploads/in.txt').read())",
      "print(open('/app/uploads/out.txt', 'w').write('from inside'))",
      `print(os.path.exists(${JSON.stringify(secret)}), os.path.exists(${JSON.stringify(join(folder, "s"))}))`,
    ].join("\n");
    expect(await run(served, code)).toMatchObject({ stdout: "from the host\n11\nFalse False\n", stderr: "" });
    expect(readFileSync(join(uploads, "out.txt"), "utf8")).toBe("from inside");
    const listed = await shipyard(["leases", "list", "--state", join(folder, "s"), "--all", "--json"]);
    expect(JSON.parse(listed.stdout).leases[0]).toMatchObject({ provider: "bubblewrap" });
    const had = descendants(served.pid);
    expect(await served.kill("SIGTERM")).toBe(0);
    expect(living(had)).toEqual([]);
  });

  sandboxTest("leaves no sandbox when it is killed, and the next one has no lease of it", async () => {
    const folder = scratchFolder();
    const args = ["--config", writeConfig(folder, sandboxed), "--state", join(folder, "s")];
    const served = await serve(args);
    await ask(`${served.url}/v1/sessions/session`, { session_id: "a" });
    expect(await run(served, "1 + 1")).toMatchObject({ stdout: "2" });
    const had = descendants(served.pid);
    expect(living(had).length).toBeGreaterThan(0);
    await served.kill("SIGKILL");
    const swept = await shipyard(["leases", "sweep", "--state", join(folder, "s"), "--json"]);
    expect(JSON.parse(swept.stdout)).toMatchObject({ unconfirmed: 0 });
    expect(living(had)).toEqual([]);
    expect(readdirSync(join(folder, "s", "w", "b")).filter((name) => name.startsWith("mcp-"))).toEqual([]);
    const listed = await shipyard(["leases", "list", "--state", join(folder, "s"), "--json"]);
    expect(JSON.parse(listed.stdout)).toMatchObject({ leases: [], writer: null });
  });

  sandboxTest(
    "gives each principal an uploads folder of its own, which the others cannot reach by any path",
    async () => {
      const folder = scratchFolder();
      const tokens = join(folder, "tokens.jsonl");
      const admit = async (name: string): Promise<Record<string, string>> => {
        const { stdout } = await shipyard(["token", name, "--file", tokens]);
        return { authorization: `Bearer ${stdout.trim()}` };
      };
      const [ada, bob] = [await admit("ada"), await admit("bob")];
      const config = writeConfig(folder, [...sandboxed, `auth: { tokenFile: ${tokens} }`]);
      const served = await serve(["--config", config, "--state", join(folder, "s")]);
      const execute = async (code: string, who: Record<string, string>): Promise<unknown> =>
        (await ask(`${served.url}/execute`, { code }, who)).body;
      expect(await execute("print(open('/app/uploads/mine', 'w').write('ada'))", ada)).toMatchObject({ stdout: "3\n" });
      expect(await execute("print(open('/app/uploads/mine').read())", ada)).toMatchObject({ stdout: "ada\n" });
      const look = [
        "import os",
        "print(os.listdir('/app/uploads'), os.listdir('/app'))",
        `print([os.path.exists(p) for p in ('/app/uploads/../ada', '/app/ada', ${JSON.stringify(join(folder, "s/uploads/ada"))})])`,
      ].join("\n");
      expect(await execute(look, bob)).toMatchObject({ stdout: "[] ['uploads']\n[False, False, False]\n" });
      await served.kill("SIGTERM");
    },
  );
});
