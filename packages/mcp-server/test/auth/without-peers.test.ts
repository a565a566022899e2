import { spawnSync } from "node:child_process";
import { cp, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createToken } from "../../src/auth.js";

const packages = fileURLToPath(new URL("../../../", import.meta.url));
let folder: string;

// The built packages as somebody has them who installed no optional peer.
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "berth-bare-"));
  for (const name of ["mcp-server", "jsonrpc-framing", "stdio-transport"]) {
    for (const part of ["package.json", "dist"]) {
      await cp(join(packages, name, part), join(folder, "node_modules", "@berth", name, part), { recursive: true });
    }
  }
});
afterAll(() => rm(folder, { recursive: true }));

async function run(program: string): Promise<string> {
  const file = join(folder, "program.mjs");
  await writeFile(file, program);
  const { status, stdout, stderr } = spawnSync(process.execPath, [file], { cwd: folder, encoding: "utf8" });
  return status === 0 ? stdout : `exit ${status}: ${stderr}`;
}

const withTokenFile = `
  import { createBearerAdmitter, openTokenFile } from "@berth/mcp-server/auth";
  const verifier = await openTokenFile({ path: "tokens.jsonl", principal: ({ name }) => name });
  const admitter = createBearerAdmitter({ verifier });
  const head = { method: "POST", path: "/mcp", header: () => "Bearer " + process.argv[2] };
  console.log(JSON.stringify(await admitter.admit(head, new AbortController().signal)));
`;

describe("without the optional peers", () => {
  it.each([".", "stdio", "http", "auth", "tasks", "json-schema"])("%s loads", async (entry) => {
    const name = entry === "." ? "@berth/mcp-server" : `@berth/mcp-server/${entry}`;
    expect(await run(`await import("${name}"); console.log("loaded");`)).toBe("loaded\n");
  });

  it("tokens of a file are checked, and asking for JWTs names the package that is missing", async () => {
    const { token, line } = createToken({ name: "ada", expiresAt: "never" });
    await writeFile(join(folder, "tokens.jsonl"), line, { mode: 0o600 });
    expect(await run(withTokenFile.replace("process.argv[2]", JSON.stringify(token)))).toBe('{"principal":"ada"}\n');
    const told = await run(`
      import { createJwtVerifier } from "@berth/mcp-server/auth";
      const keys = { url: "https://login.example.com/jwks" };
      const options = { issuer: "i", audience: "a", keys, principal: () => "x" };
      await createJwtVerifier(options).catch(({ code, message }) => console.log(code, message));
    `);
    expect(told).toBe('PEER_MISSING verifying JWTs needs the package "jose": npm install jose\n');
  });

  it("OpenTelemetry's entry names the package that is missing", async () => {
    expect(await run('await import("@berth/mcp-server/opentelemetry");')).toContain(
      "Cannot find package '@opentelemetry/api'",
    );
  });

  it("types say nothing of them, but for the entry that is made for one", async () => {
    const dist = join(packages, "mcp-server", "dist");
    const own = await readFile(join(dist, "opentelemetry.d.ts"), "utf8");
    expect(own).toContain("from '@opentelemetry/api'");
    for (const file of (await readdir(dist)).filter(
      (name) => name.endsWith(".d.ts") && name !== "opentelemetry.d.ts",
    )) {
      expect([file, await readFile(join(dist, file), "utf8")]).not.toEqual([
        file,
        expect.stringMatching(/from ['"](jose|@opentelemetry)/),
      ]);
    }
  });
});

describe("with jose installed", () => {
  it("it is loaded for JWTs, and not for tokens of a file", async () => {
    const jose = join(folder, "node_modules", "jose");
    await mkdir(jose);
    await writeFile(join(jose, "package.json"), '{"name":"jose","type":"module","exports":"./index.js"}');
    await writeFile(join(jose, "index.js"), 'console.log("jose is loaded");');
    expect(await run(withTokenFile)).not.toContain("jose is loaded");
    const options = '{ issuer: "i", audience: "a", keys: { url: "https://x.example/" }, principal: () => "x" }';
    const told = await run(`
      const { createJwtVerifier } = await import("@berth/mcp-server/auth");
      console.log("before");
      await createJwtVerifier(${options});
    `);
    expect(told).toBe("before\njose is loaded\n");
    await rm(jose, { recursive: true });
  });
});
