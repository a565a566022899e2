// An inner file: a host of two users is refused before anything is started.
import { expect, it, onTestFinished } from "vitest";
import { thisHost } from "../../src/start/host.js";
import { refuseHere } from "../../src/start/refuse-here.js";

it.skipIf(process.getuid?.() !== 0)("a host whose effective user is not its real one is told so", () => {
  onTestFinished(() => process.seteuid?.(0));
  process.seteuid?.(65_534);
  expect(() => refuseHere({ ...thisHost(), findTool: () => "/usr/bin/bwrap" })).toThrow(
    expect.objectContaining({
      code: "CONFINEMENT_UNAVAILABLE",
      message: "this process has two users: the real one is 0, the effective one 65534",
    }),
  );
});
