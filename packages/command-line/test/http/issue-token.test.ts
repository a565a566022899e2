import { mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { issueToken, type MakeToken } from "../../src/http/index.js";
import { exitCodes } from "../../src/index.js";

const makeToken: MakeToken = ({ name, expiresAt }) => {
  if (name === "") throw Object.assign(new Error("a name has to have a character"), { code: "NAME_INVALID" });
  if (name === "bug") throw new TypeError("a fault of ours");
  return { token: `secret-${name}`, line: JSON.stringify({ name, until: expiresAt.getTime() }) };
};

function place(): string {
  const folder = mkdtempSync(join(tmpdir(), "berth-token-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return join(folder, "tokens.jsonl");
}

/** What is written to a stream of this process until the test has finished. */
function written(stream: NodeJS.WriteStream): readonly string[] {
  const texts: string[] = [];
  const spy = vi.spyOn(stream, "write").mockImplementation((text) => texts.push(String(text)) > 0);
  onTestFinished(() => spy.mockRestore());
  return texts;
}

describe("the command that makes a token", () => {
  it("prints the token once, and keeps what others need to know it in a file of its owner", async () => {
    const file = place();
    const [stdout, stderr] = [written(process.stdout), written(process.stderr)];
    expect(await issueToken(makeToken, "ada", { file })).toBe(exitCodes.good);
    expect(await issueToken(makeToken, "bob", { file, days: "1", json: true })).toBe(exitCodes.good);
    const lines = readFileSync(file, "utf8").trim().split("\n");
    const kept: readonly { name: string; until: number }[] = lines.map((line) => JSON.parse(line));
    expect(kept.map(({ name }) => name)).toEqual(["ada", "bob"]);
    const days = kept.map(({ until }) => Math.round((until - Date.now()) / 86_400_000));
    expect(days).toEqual([90, 1]);
    expect((statSync(file).mode & 0o777).toString(8)).toBe("600");
    expect(stdout.join("")).toContain("secret-ada\n");
    expect(stderr.join("")).toMatch(/for ada, until 20\d\d-/u);
    expect(stderr.join("") + lines.join("")).not.toContain("secret");
  });

  it.each([
    { name: "no number of days", who: "ada", flags: { days: "0" }, says: "--days 0" },
    { name: "a name that is none", who: "", flags: {}, says: "a name has to have a character" },
    { name: "a file that cannot be written", who: "ada", flags: { file: "/proc/none" }, says: "/proc/none cannot be" },
  ])("refuses $name", async ({ who, flags, says }) => {
    const refused = issueToken(makeToken, who, { file: place(), ...flags });
    await expect(refused).rejects.toMatchObject({ code: "USAGE", message: expect.stringContaining(says) });
  });

  it("takes no fault of a program for one of its user", async () => {
    await expect(issueToken(makeToken, "bug", { file: place() })).rejects.toThrow(TypeError);
  });
});
