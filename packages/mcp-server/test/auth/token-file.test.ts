import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { appendFile, chmod, mkdtemp, rename, rm, symlink, truncate, unlink, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { scaledCount } from "../../../../fixtures/counts.js";
import { createToken, openTokenFile, type TokenFileOptions, type TokenVerifier } from "../../src/auth.js";
import { never, present } from "../support/issuer.js";

let folder: string;
let path: string;
let clock = present;
const errors: unknown[] = [];
const ada = createToken({ name: "ada", scopes: ["read"], expiresAt: new Date(present + 5_000), now: () => present });
const eve = createToken({ name: "eve", expiresAt: "never" });

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "berth-tokens-"));
  path = join(folder, "tokens.jsonl");
  clock = present;
  errors.length = 0;
});
afterEach(() => rm(folder, { recursive: true }));

async function replace(...lines: readonly string[]): Promise<void> {
  await writeFile(`${path}.new`, lines.map((line) => `${line}\n`).join(""), { mode: 0o600 });
  await rename(`${path}.new`, path);
}
function open(options: Partial<TokenFileOptions<string>> = {}): Promise<TokenVerifier<string>> {
  const onReloadError = (error: unknown): void => void errors.push(error);
  return openTokenFile({ path, principal: ({ name }) => name, now: () => clock, onReloadError, ...options });
}
const nameOf = async (verifier: TokenVerifier<string>, { token }: { token: string }): Promise<string | undefined> =>
  (await verifier.verify(token, never))?.principal;

describe("a token", () => {
  it("holds 256 random bits, and its line only their hash", () => {
    expect(ada.token).toMatch(/^berth_[A-Za-z0-9_-]{43}$/);
    expect(Buffer.from(ada.token.slice(6), "base64url")).toHaveLength(32);
    expect(JSON.parse(ada.line)).toEqual({
      name: "ada",
      scopes: ["read"],
      expires: "2027-01-15T08:00:05.000Z",
      sha256: createHash("sha256").update(ada.token).digest("hex"),
    });
    expect(ada.line).not.toContain(ada.token.slice(6));
    const bits = createToken({ name: "x", expiresAt: "never", randomBytes: (size) => new Uint8Array(size).fill(255) });
    expect(bits.token).toBe(`berth_${"_".repeat(42)}8`);
  });

  it.each([
    { name: "an empty name", token: { name: "", expiresAt: "never" as const } },
    { name: "a name with a line feed", token: { name: "a\nb", expiresAt: "never" as const } },
    { name: "a name that is too long", token: { name: "a".repeat(201), expiresAt: "never" as const } },
    { name: "a scope that is none", token: { name: "a", scopes: ["a b"], expiresAt: "never" as const } },
    { name: "no time", token: { name: "a", expiresAt: new Date(Number.NaN) } },
    { name: "a time that no line can say", token: { name: "a", expiresAt: new Date(8.64e15) } },
  ])("is not made for $name", ({ token }) => {
    expect(() => createToken(token)).toThrow(expect.objectContaining({ code: "AUTH_OPTIONS_INVALID" }));
  });

  it("of the file is known until it expires, whatever stands around it", async () => {
    await replace("# people", "", ada.line, "  ", `  ${eve.line}\r`);
    const verifier = await open();
    expect(await verifier.verify(ada.token, never)).toEqual({ principal: "ada", scopes: ["read"] });
    expect(await verifier.verify(eve.token, never)).toEqual({ principal: "eve", scopes: [] });
    clock = present + 4_999;
    expect(await nameOf(verifier, ada)).toBe("ada");
    clock = present + 5_000;
    expect([await nameOf(verifier, ada), await nameOf(verifier, eve)]).toEqual([undefined, "eve"]);
  });

  it.each([
    { name: "undefined", nobody: () => undefined },
    { name: "null", nobody: () => null },
    { name: "a promise of undefined", nobody: () => Promise.resolve(undefined) },
  ])("whose principal is $name is nobody's, and not good", async ({ nobody }) => {
    await replace(eve.line);
    expect(await (await open({ principal: nobody })).verify(eve.token, never)).toBeUndefined();
  });

  it("may be looked up elsewhere", async () => {
    await replace(eve.line);
    const users = new Map([["eve", "Eve"]]);
    const verifier = await open({ principal: async ({ name }) => users.get(name) });
    expect(await nameOf(verifier, eve)).toBe("Eve");
  });

  it("that is none is not known: neither a hash, nor a text that a person chose, nor one that differs in a character", async () => {
    const chosen = {
      name: "bob",
      scopes: [],
      expires: "never",
      sha256: createHash("sha256").update("hunter2").digest("hex"),
    };
    await replace(ada.line, JSON.stringify(chosen));
    const verifier = await open();
    const hash = createHash("sha256").update(ada.token).digest("hex");
    for (const token of ["", "hunter2", hash, ada.token.slice(0, -1), `${ada.token}A`, ada.token.toUpperCase()]) {
      expect(await verifier.verify(token, never)).toBeUndefined();
    }
    await fc.assert(
      fc.asyncProperty(fc.nat(ada.token.length - 1), fc.constantFrom(..."AZaz09-_"), async (at, character) => {
        const changed = ada.token.slice(0, at) + character + ada.token.slice(at + 1);
        expect((await verifier.verify(changed, never)) !== undefined).toBe(changed === ada.token);
      }),
    );
  });
});

describe("a file that is not valid is an error at the start, which names the line and nothing of it", () => {
  const line = { name: "SECRET", scopes: [], expires: "never", sha256: "a".repeat(64) };
  const json = JSON.stringify;
  it.each([
    { name: "no JSON", text: "SECRET" },
    { name: "no object", text: '["SECRET"]' },
    { name: "null", text: "null" },
    { name: "a member more", text: json({ ...line, SECRET: 1 }) },
    { name: "a token instead of its hash", text: json({ ...line, sha256: "SECRET" }) },
    { name: "a hash in upper case", text: json({ ...line, sha256: "A".repeat(64) }) },
    { name: "no name", text: json({ ...line, name: undefined }) },
    { name: "an empty name", text: json({ ...line, name: "" }) },
    { name: "no scopes", text: json({ ...line, scopes: undefined }) },
    { name: "a scope that is none", text: json({ ...line, scopes: ["a b"] }) },
    { name: "101 scopes", text: json({ ...line, scopes: Array.from({ length: 101 }, (_, at) => `s${at}`) }) },
    { name: "no expiry", text: json({ ...line, expires: undefined }) },
    { name: "an expiry that is null", text: json({ ...line, expires: null }) },
    { name: "an expiry without zone", text: json({ ...line, expires: "2027-01-31T00:00:00" }) },
    { name: "a day that does not exist", text: json({ ...line, expires: "2027-02-30T00:00:00Z" }) },
    { name: "an hour that does not exist", text: json({ ...line, expires: "2027-02-20T25:00:00Z" }) },
    { name: "the same token twice", text: eve.line },
    { name: "one token too many", text: json({ ...line, sha256: "b".repeat(64) }), limits: { maxTokens: 1 } },
  ])("$name", async ({ text, limits }) => {
    await replace(eve.line, "", text);
    const failed = await open({ limits }).catch((error: unknown) => error);
    expect(failed).toMatchObject({ code: "TOKEN_FILE_INVALID", message: expect.stringMatching(/^line 3 /) });
    expect(String(failed)).not.toContain("SECRET");
  });
});

describe("a file that cannot be trusted or read is an error at the start", () => {
  it.each([
    { name: "its group may write to it", mode: 0o620, code: "FILE_MODE" },
    { name: "everybody may write to it", mode: 0o602, code: "FILE_MODE" },
    { name: "everybody may read it, which lets nobody in", mode: 0o644, code: undefined },
    { name: "its owner alone may read it", mode: 0o400, code: undefined },
  ])("when $name: $code", async ({ mode, code }) => {
    await replace(eve.line);
    await chmod(path, mode);
    const opened = await open().catch((error: unknown) => error);
    if (code === undefined) expect(opened).toHaveProperty("verify");
    else expect(opened).toMatchObject({ code });
  });

  it.each([
    { name: "it is not there", prepare: () => undefined },
    { name: "it is a folder", prepare: () => symlink(folder, path) },
    { name: "it is a device without end", prepare: () => symlink("/dev/zero", path) },
    { name: "it is a pipe that nobody writes to", prepare: () => void spawnSync("mkfifo", [path]) },
    { name: "it is too large", prepare: () => writeFile(path, "\n".repeat(1_048_577), { mode: 0o600 }) },
    { name: "it is not UTF-8", prepare: () => writeFile(path, Buffer.from([0x23, 0xff]), { mode: 0o600 }) },
  ])("when $name", async ({ prepare }) => {
    await prepare();
    await expect(open()).rejects.toMatchObject({ code: "FILE_UNREADABLE" });
  });

  it("not when a link leads to it, as files of container secrets are", async () => {
    await replace(eve.line);
    await symlink(path, join(folder, "link"));
    expect(await nameOf(await open({ path: join(folder, "link") }), eve)).toBe("eve");
  });
});

describe("a file that changes", () => {
  it("counts within a second, and is not looked at more often", async () => {
    await replace(ada.line);
    const verifier = await open();
    await replace(eve.line);
    clock += 999;
    expect([await nameOf(verifier, ada), await nameOf(verifier, eve)]).toEqual(["ada", undefined]);
    clock += 1;
    expect([await nameOf(verifier, ada), await nameOf(verifier, eve)]).toEqual([undefined, "eve"]);
  });

  it("counts also when it has the same size and time as before", async () => {
    const { line } = createToken({ name: "eva", expiresAt: "never" });
    const then = new Date(present);
    await writeFile(path, line, { mode: 0o600 });
    await utimes(path, then, then);
    const verifier = await open();
    await writeFile(path, eve.line, { mode: 0o600 });
    await utimes(path, then, then);
    clock += 1_000;
    expect(await nameOf(verifier, eve)).toBe("eve");
  });

  it("counts also when the clock was set back", async () => {
    await replace(ada.line);
    const verifier = await open();
    await replace(eve.line);
    clock -= 3_600_000;
    expect(await nameOf(verifier, eve)).toBe("eve");
  });

  const spoil: readonly { name: string; spoil: () => Promise<void>; code: string }[] = [
    { name: "torn within a line", spoil: () => truncate(path, 40), code: "TOKEN_FILE_INVALID" },
    { name: "gone", spoil: () => unlink(path), code: "FILE_UNREADABLE" },
    { name: "writable for everybody", spoil: () => chmod(path, 0o666), code: "FILE_MODE" },
    { name: "wrong in a line", spoil: () => appendFile(path, "oops\n"), code: "TOKEN_FILE_INVALID" },
  ];
  it.each(spoil)("to what is $name leaves all as it was, and is told once", async ({ spoil, code }) => {
    await replace(ada.line, eve.line);
    const verifier = await open();
    await spoil();
    for (let round = 0; round < 3; round += 1) {
      clock += 1_000;
      expect(await nameOf(verifier, eve)).toBe("eve");
    }
    expect(errors).toEqual([expect.objectContaining({ code })]);
    await replace(ada.line);
    clock += 1_000;
    expect(await nameOf(verifier, eve)).toBeUndefined();
    await unlink(path);
    clock += 1_000;
    await nameOf(verifier, eve);
    expect(errors).toHaveLength(2);
  });

  it("counts also when nobody can be told of its faults", async () => {
    await replace(ada.line);
    const onReloadError = (): never => {
      throw new Error("the log is full");
    };
    const verifier = await open({ onReloadError });
    await unlink(path);
    clock += 1_000;
    expect(await nameOf(verifier, ada)).toBe("ada");
    await replace(eve.line);
    clock += 1_000;
    expect(await nameOf(verifier, eve)).toBe("eve");
  });

  it("by renaming, again and again while it is asked, is always whole: who stands in each version is always known", async () => {
    const far = createToken({ name: "far", expiresAt: "never" });
    await replace(eve.line);
    const verifier = await open({ now: () => (clock += 1_000) });
    let writing = true;
    const rounds = scaledCount("replacements of a token file", 4_000);
    const write = async (): Promise<void> => {
      for (let at = 1; at <= rounds; at += 1) {
        await replace("# ".padEnd(at % 5_000, "x"), eve.line, ...(at === rounds ? [far.line] : []));
      }
      writing = false;
    };
    const written = write();
    while (writing) expect(await nameOf(verifier, eve)).toBe("eve");
    await written;
    expect(await nameOf(verifier, far)).toBe("far");
    expect(errors).toEqual([]);
  });

  it("under its reader's eyes is whole or as before", async () => {
    const many = Array.from({ length: 500 }, (_, at) => createToken({ name: `n${at}`, expiresAt: "never" }));
    const lines = many.map(({ line }) => line);
    await replace(...lines);
    let reads = 0;
    const verifier = await open({ now: () => (clock += 1_000) });
    let writing = true;
    const rounds = scaledCount("rewrites of a token file in its place", 1_000);
    const write = async (): Promise<void> => {
      // Not by renaming: the file is empty, then half written, again and again.
      for (let at = 0; at < rounds; at += 1) await writeFile(path, `${lines.join("\n")}\n`);
      writing = false;
    };
    const written = write();
    while (writing) {
      await nameOf(verifier, { token: many[reads % many.length]?.token ?? "" });
      reads += 1;
    }
    await written;
    clock += 10_000;
    for (const token of many) expect(await nameOf(verifier, token)).toBeDefined();
    for (const error of errors) expect(error).toMatchObject({ name: "AuthError" });
  });
});
