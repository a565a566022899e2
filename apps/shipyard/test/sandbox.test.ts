import { appendFileSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect } from "vitest";
import { partTest } from "../../../fixtures/parts.js";
import { place, run, startSession } from "./places.js";
import { ask, serve, shipyard, tokenHeaders } from "./shipyard.js";

// Limits that hold for root and for others, with and without control groups, so that the test says nothing about these.
const sandboxed = [
  "profiles: { python: { template: /usr/bin/python3, policy: { limits: { openFiles: 256 } } } }",
  "sessions: { warmWorkers: 1 }",
];

const sandboxTest = partTest("bubblewrap", "python3");

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
    const { folder, state, args } = place(sandboxed);
    const uploads = join(folder, "up");
    mkdirSync(uploads, { mode: 0o700 });
    writeFileSync(join(uploads, "in.txt"), "from the host");
    const secret = join(folder, "secret.txt");
    writeFileSync(secret, "1234");
    const served = await serve([...args, "--uploads", uploads]);
    expect(readFileSync(secret, "utf8")).toBe("1234"); // the control: the file is there for who may read it
    const code = [
      "import os",
      "print(open('/app/uploads/in.txt').read())",
      "print(open('/app/uploads/out.txt', 'w').write('from inside'))",
      `print(os.path.exists(${JSON.stringify(secret)}), os.path.exists(${JSON.stringify(state)}))`,
    ].join("\n");
    expect(await run(served, code)).toMatchObject({ stdout: "from the host\n11\nFalse False\n", stderr: "" });
    expect(readFileSync(join(uploads, "out.txt"), "utf8")).toBe("from inside");
    const listed = await shipyard(["leases", "list", "--state", state, "--all", "--json"]);
    expect(JSON.parse(listed.stdout).leases[0]).toMatchObject({ provider: "bubblewrap" });
    const had = descendants(served.pid);
    expect(await served.kill("SIGTERM")).toBe(0);
    expect(living(had)).toEqual([]);
  });

  sandboxTest("leaves no sandbox when it is killed, and the next one has no lease of it", async () => {
    const { state, args } = place(sandboxed);
    const served = await serve(args);
    await startSession(served, "a");
    expect(await run(served, "1 + 1")).toMatchObject({ stdout: "2" });
    const had = descendants(served.pid);
    expect(living(had).length).toBeGreaterThan(0);
    await served.kill("SIGKILL");
    const swept = await shipyard(["leases", "sweep", "--state", state, "--json"]);
    expect(JSON.parse(swept.stdout)).toMatchObject({ unconfirmed: 0 });
    expect(living(had)).toEqual([]);
    expect(readdirSync(join(state, "w", "b")).filter((name) => name.startsWith("mcp-"))).toEqual([]);
    const listed = await shipyard(["leases", "list", "--state", state, "--json"]);
    expect(JSON.parse(listed.stdout)).toMatchObject({ leases: [], writer: null });
  });

  sandboxTest(
    "gives each principal an uploads folder of its own, which the others cannot reach by any path",
    async () => {
      const { folder, state, config, args } = place(sandboxed);
      const tokens = join(folder, "tokens.jsonl");
      const [ada, bob] = [await tokenHeaders("ada", tokens), await tokenHeaders("bob", tokens)];
      appendFileSync(config, `auth: { tokenFile: ${tokens} }\n`);
      const served = await serve(args);
      const execute = async (code: string, who: Readonly<Record<string, string>>): Promise<unknown> =>
        (await ask(`${served.url}/execute`, { code }, who)).body;
      expect(await execute("print(open('/app/uploads/mine', 'w').write('ada'))", ada)).toMatchObject({ stdout: "3\n" });
      expect(await execute("print(open('/app/uploads/mine').read())", ada)).toMatchObject({ stdout: "ada\n" });
      const look = [
        "import os",
        "print(os.listdir('/app/uploads'), os.listdir('/app'))",
        `print([os.path.exists(p) for p in ('/app/uploads/../ada', '/app/ada', ${JSON.stringify(join(state, "uploads/ada"))})])`,
      ].join("\n");
      expect(await execute(look, bob)).toMatchObject({ stdout: "[] ['uploads']\n[False, False, False]\n" });
      await served.kill("SIGTERM");
    },
  );
});
