import { PassThrough } from "node:stream";
import { systemScheduler } from "@berth/jsonrpc-framing";
import { expect, it } from "vitest";
import type { PluginProcess } from "../../src/confine/plugin-process.js";
import { ProcessPluginError } from "../../src/errors.js";
import { createInstanceLife } from "../../src/instance/instance-life.js";
import { readInstanceOptions } from "../../src/instance/instance-terms.js";
import { rejection } from "../support/rejection.js";

/** Processes that the kernel does not let go cannot be made at will: here a process is told to be such a one. */
it("an end whose processes could not be seen to be gone says so, and a later close tries again", async () => {
  let kills = 0;
  const process: PluginProcess = {
    pid: undefined,
    stdin: new PassThrough(),
    stdout: new PassThrough(),
    stderr: new PassThrough(),
    confinement: "bubblewrap",
    enforced: [],
    exited: new Promise(() => {}),
    endInput: () => {},
    terminate: () => {},
    kill: async () => {
      kills += 1;
      if (kills < 3) throw new ProcessPluginError("PLUGIN_NOT_ENDED", "still there");
    },
  };
  const manifest = {
    name: "smoke",
    version: "1.0.0",
    protocol: 1,
    process: { command: "./x", args: [], env: {} },
    permissions: { network: "none" },
    mcp: true,
  } as const;
  const plugin = { root: "/p", manifest, executable: "/p/x", interpreter: undefined, digest: "", files: 1, bytes: 1 };
  const life = createInstanceLife({
    process,
    terms: readInstanceOptions({
      plugin,
      dataFolder: "/d",
      host: { name: "t", version: "1" },
      scheduler: systemScheduler,
    }),
    ave: { stop: async () => {}, destroy: async () => {} },
    endPipe: () => {},
    readOn: () => {},
    outputEnded: Promise.resolve(),
    onEnded: async () => {},
  });
  expect((await rejection(life.kill())).code).toBe("PLUGIN_NOT_ENDED");
  expect(await life.ended).toMatchObject({ reason: "killed", confirmed: false, code: undefined });
  await life.close();
  await life.close();
  expect(kills).toBe(4);
});
