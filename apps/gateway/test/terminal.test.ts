import { spawnSync } from "node:child_process";
import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { describe, expect } from "vitest";
import { partTest } from "../../../fixtures/parts.js";
import { bin, plainEnvironment, small, type Workplace, workplace } from "./gateway.js";

const driver = fileURLToPath(new URL("servers/at_terminal.py", import.meta.url));
const pinAtTerminal = (place: Workplace, keys: string) =>
  spawnSync(
    "python3",
    [driver, "Trust small", keys, process.execPath, bin, "pin", "--catalog", place.catalog, "--state", place.state],
    { env: { ...plainEnvironment, TERM: "xterm" }, encoding: "utf8", timeout: 30_000 },
  );

describe("berth-gateway pin at a terminal", { timeout: 60_000 }, () => {
  const servers = (place: Workplace) => ({
    small: small(place),
  });

  partTest("python3")("asks, and writes the pins after a yes", async () => {
    await using place = await workplace();
    await place.writeCatalog(servers(place));
    const { status, stdout } = pinAtTerminal(place, "y");
    expect(stdout).toContain("measuring and starting small");
    expect(stdout).toContain("small: pinned");
    expect(status).toBe(0);
    expect(await readFile(place.catalog, "utf8")).toContain('"digest": "tree-v1:');
  });

  const refusals = [
    { name: "a no", keys: "n" },
    { name: "the answer that is offered", keys: "\r" },
    { name: "the end of the dialogue", keys: "\u0003" },
  ];
  for (const { name, keys } of refusals) {
    partTest("python3")(`writes nothing after ${name}, and ends with 3`, async () => {
      await using place = await workplace();
      await place.writeCatalog(servers(place));
      expect(pinAtTerminal(place, keys).status).toBe(3);
      expect(await readFile(place.catalog, "utf8")).not.toContain("digest");
    });
  }
});
