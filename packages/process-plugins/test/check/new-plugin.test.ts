import { mkdirSync, mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type PartName, partTest } from "../../../../fixtures/parts.js";
import { checkPlugin, newPlugin, type PluginLanguage } from "../../src/check.js";

let scratch = "";
beforeAll(() => {
  scratch = mkdtempSync(join(tmpdir(), "new-plugins-"));
});
afterAll(() => rmSync(scratch, { recursive: true, force: true }));

const languages: readonly { readonly language: PluginLanguage; readonly parts: readonly PartName[] }[] = [
  { language: "python", parts: ["bubblewrap", "python3"] },
  { language: "typescript", parts: ["bubblewrap"] },
  { language: "shell", parts: ["bubblewrap"] },
];

describe("a new plugin", () => {
  for (const { language, parts } of languages) {
    partTest(...parts)(`in ${language} passes check at once, with its transcript`, async () => {
      const folder = join(scratch, "deep", `${language}-greeter`);
      const written = await newPlugin({ language, name: `${language}-greeter`, folder });
      expect(written.folder).toBe(folder);
      expect(written.files).toEqual(
        expect.arrayContaining(["README.md", "bin/plugin", "check.json", "expected.jsonl", "plugin.json"]),
      );
      const { ok, findings, plugin } = await checkPlugin({ folder });
      expect(findings.filter(({ outcome }) => outcome !== "passed")).toEqual([]);
      expect({ ok, plugin }).toEqual({ ok: true, plugin: `${language}-greeter` });
    });
  }

  it("may be written under any umask: nobody else can change it", async () => {
    const before = process.umask(0);
    try {
      const folder = join(scratch, "open");
      const { files } = await newPlugin({ language: "shell", name: "open", folder });
      const paths = [folder, join(folder, "bin"), ...files.map((file) => join(folder, file))];
      expect(paths.filter((path) => (statSync(path).mode & 0o022) !== 0)).toEqual([]);
    } finally {
      process.umask(before);
    }
  });

  it("never takes a folder that is there", async () => {
    const folder = join(scratch, "there");
    mkdirSync(folder);
    const refused = { code: "OPTION_INVALID", message: `folder ${folder} is there already` };
    await expect(newPlugin({ language: "shell", name: "there", folder })).rejects.toMatchObject(refused);
  });

  it.each(["", "Upper", "under_score", "-dash", "a/b", "../up", "a".repeat(65), "ü"])(
    "has a name that a manifest may have: %j is refused",
    async (name) => {
      const attempt = newPlugin({ language: "shell", name, folder: join(scratch, "refused") });
      await expect(attempt).rejects.toMatchObject({
        code: "OPTION_INVALID",
        message: expect.stringContaining("name does not match"),
      });
    },
  );

  it("is in a language that has a template", async () => {
    const options = JSON.parse('{"language":"toString","name":"a"}');
    const attempt = newPlugin({ ...options, folder: join(scratch, "no-language") });
    await expect(attempt).rejects.toMatchObject({
      code: "OPTION_INVALID",
      message: "language is none of python, typescript, shell: toString",
    });
  });
});
