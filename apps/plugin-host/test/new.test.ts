import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { type PartName, partTest } from "../../../fixtures/parts.js";
import { run } from "./plugin-host.js";
import { makeProcessWorld } from "./process-world.js";

const world = makeProcessWorld();
const languages: readonly { readonly lang: string; readonly parts: readonly PartName[] }[] = [
  { lang: "python", parts: ["bubblewrap", "python3"] },
  { lang: "typescript", parts: ["bubblewrap"] },
  { lang: "shell", parts: ["bubblewrap"] },
];

describe("new", () => {
  for (const { lang, parts } of languages) {
    partTest(...parts)(
      `writes a plugin in ${lang} that check passes at once`,
      async () => {
        const dir = join(world.folder, `my-${lang}`);
        const made = await run(["new", `my-${lang}`, "--lang", lang, "--dir", dir]);
        expect(made).toMatchObject({ code: 0, stderr: "" });
        for (const line of ["wrote   plugin.json", "wrote   expected.jsonl", `next    berth-plugin-host check ${dir}`])
          expect(made.stdout).toContain(`${line}\n`);
        const { code, stdout } = await run(["check", dir]);
        expect({ code, stdout }).toMatchObject({ code: 0, stdout: expect.stringContaining(`my-${lang} passes`) });
      },
      120_000,
    );
  }

  it("never writes into a folder that is there", async () => {
    const args = ["new", "again", "--lang", "shell", "--dir", join(world.folder, "again")];
    const { code, stdout } = await run([...args, "--json"]);
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({
      folder: join(world.folder, "again"),
      files: expect.arrayContaining(["bin/plugin", "plugin.json"]),
    });
    expect(await run(args)).toMatchObject({ code: 2, stderr: expect.stringContaining("is there already") });
  });

  it.each([
    { args: ["Upper", "--lang", "shell"], words: "name does not match" },
    { args: ["../up", "--lang", "shell"], words: "name does not match" },
    { args: ["good", "--lang", "cobol"], words: "Allowed choices are python, typescript, shell" },
    { args: ["good"], words: "--lang" },
  ])("ends with 2 for $args", async ({ args, words }) => {
    expect(await run(["new", ...args])).toMatchObject({ code: 2, stderr: expect.stringContaining(words) });
  });
});
