import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { openEnvironmentStore } from "../../src/index.js";
import { failure, makeWorld } from "./world.js";

describe("options", () => {
  it.each<{ name: string; options: object; message: RegExp }>([
    { name: "a relative path", options: { path: "store" }, message: /absolute/ },
    { name: "a path that a shell would read", options: { path: "/tmp/a$b" }, message: /without quotes/ },
    { name: "a name that is not known", options: { path: "/tmp/x", pth: 1 }, message: /no option "pth"/ },
    {
      name: "a limit out of range",
      options: { path: "/tmp/x", limits: { buildTimeoutMs: 1 } },
      message: /1000 to 86400000/,
    },
    {
      name: "an index without TLS",
      options: { path: "/tmp/x", index: { from: "index", url: "http://user:pw@example.org" } },
      message: /must be an https URL/,
    },
    {
      name: "relative folders of wheels",
      options: { path: "/tmp/x", index: { from: "wheels", folders: ["w"] } },
      message: /absolute/,
    },
  ])("are checked: $name", async ({ options, message }) => {
    const given: Parameters<typeof openEnvironmentStore>[0] = { path: "", ...options };
    const error = await failure(openEnvironmentStore(given));
    expect(error.code).toBe("OPTION_INVALID");
    expect(error.message).toMatch(message);
    expect(error.message).not.toContain("pw");
  });

  it("name a folder of another version: refused, and left as it is", async () => {
    const world = makeWorld();
    mkdirSync(world.storePath);
    world.write("store/format", "berth-venv-store 99\n");
    expect((await failure(openEnvironmentStore(world.options))).code).toBe("STORE_UNUSABLE");
    expect(readFileSync(join(world.storePath, "format"), "utf8")).toBe("berth-venv-store 99\n");
    expect(existsSync(join(world.storePath, "environments"))).toBe(false);
  });
});
