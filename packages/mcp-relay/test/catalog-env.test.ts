import { execFileSync } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { resolveEnvironment } from "../src/catalog-env.js";

describe("resolveEnvironment", () => {
  let directory: string;
  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), "catalog-env-"));
    await writeFile(join(directory, "token"), "from a file\r\n");
    await writeFile(join(directory, "lines"), "one\ntwo\n\n");
    await writeFile(join(directory, "empty"), "\n");
    await writeFile(join(directory, "binary"), Buffer.from([0xff, 0xfe]));
    await writeFile(join(directory, "large"), "x".repeat(64 * 1024 + 1));
    execFileSync("mkfifo", [join(directory, "pipe")]);
  });
  afterAll(() => rm(directory, { recursive: true }));

  const resolve = (env: Record<string, string>, inheritEnv: string[] = []) =>
    resolveEnvironment({ env, inheritEnv }, { directory, variables: { HELD: "s3cret", EMPTY: "", LC_ALL: "C" } });

  it("resolves plain texts, references and named variables", async () => {
    const env = {
      PLAIN: "as written",
      NONE: "",
      VARIABLE: "env:HELD",
      FILE: "file:token",
      ABSOLUTE: `file:${join(directory, "lines")}`,
      DATABASE: "literal:file:./dev.db",
      TWICE: "literal:literal:x",
    };
    expect(await resolve(env, ["LC_ALL"])).toEqual({
      ok: true,
      variables: {
        LC_ALL: "C",
        PLAIN: "as written",
        NONE: "",
        VARIABLE: "s3cret",
        FILE: "from a file",
        ABSOLUTE: "one\ntwo\n",
        DATABASE: "file:./dev.db",
        TWICE: "literal:x",
      },
    });
  });

  it.each([
    { name: "a variable that is not set", text: "env:MISSING", message: "refers to env:MISSING, which is not set" },
    { name: "a variable that is empty", text: "env:EMPTY", message: "refers to env:EMPTY, which is set but empty" },
    { name: "a file that is absent", text: "file:nothing", message: "cannot be read (ENOENT)" },
    { name: "a file that is empty", text: "file:empty", message: "which is empty" },
    { name: "a file that is no text", text: "file:binary", message: "which is not text" },
    { name: "a file over the limit", text: "file:large", message: "which is over 65536 bytes" },
    { name: "a folder", text: "file:.", message: "which is not a file" },
    { name: "a pipe, which may never end", text: "file:pipe", message: "which is not a file" },
  ])("reports $name", async ({ text, message }) => {
    const resolved = await resolve({ SECRET: text });
    expect(resolved).toEqual({ ok: false, problems: [{ name: "SECRET", message: expect.stringContaining(message) }] });
  });

  it("reports everything that is missing, names only", async () => {
    const resolved = await resolve({ A: "env:NO_A", B: "plain s3cret", C: "file:no-c" }, ["NO_D"]);
    expect(resolved.ok ? [] : resolved.problems.map(({ name }) => name)).toEqual(["NO_D", "A", "C"]);
    expect(JSON.stringify(resolved)).not.toContain("s3cret");
  });
});
