import { existsSync, statSync, writeFileSync } from "node:fs";
import { connect, createServer } from "node:net";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { describe, expect, it, onTestFinished } from "vitest";
import { askServer } from "../../src/control/control-client.js";
import type { ControlAnswer, ControlRequest } from "../../src/control/control-protocol.js";
import { openControlServer } from "../../src/control/control-server.js";
import { openStateFolder, type StateFolder } from "../../src/state-folder.js";
import { scratchFolder } from "../shipyard.js";

async function control(obey: (request: ControlRequest) => Promise<ControlAnswer>): Promise<StateFolder> {
  const state = await openStateFolder(join(scratchFolder(), "s"));
  const server = await openControlServer(state, obey);
  onTestFinished(() => server.close());
  return state;
}

async function say(state: StateFolder, line: string): Promise<unknown> {
  const socket = connect(state.control);
  socket.write(line);
  return JSON.parse(await text(socket));
}

const done = async (): Promise<ControlAnswer> => ({ ok: true, result: { ended: 1 } });

describe("the control socket", () => {
  it("is its owner's alone, and passes what is asked on", async () => {
    const asked: ControlRequest[] = [];
    const state = await control(async (request) => {
      asked.push(request);
      return { ok: true, result: { state: "released" } };
    });
    expect((statSync(state.control).mode & 0o777).toString(8)).toBe("600");
    expect(await askServer(state, { op: "release", id: 'a"\n' })).toEqual({ ok: true, result: { state: "released" } });
    expect(await askServer(state, { op: "sweep" })).toMatchObject({ ok: true });
    expect(asked).toEqual([{ op: "release", id: 'a"\n' }, { op: "sweep" }]);
  });

  it.each([
    "{}\n",
    "[]\n",
    "null\n",
    "release\n",
    '{"op":"release"}\n',
    '{"op":"release","id":1}\n',
    '{"op":"exec"}\n',
    "\n",
  ])("refuses %j", async (line) => {
    const state = await control(done);
    expect(await say(state, line)).toMatchObject({ ok: false, code: "USAGE" });
  });

  it("refuses a line without end in bounded memory, and goes on", async () => {
    const state = await control(done);
    expect(await say(state, "x".repeat(200_000))).toMatchObject({ ok: false, code: "USAGE" });
    expect(await askServer(state, { op: "sweep" })).toMatchObject({ ok: true });
  });

  it("tells the code and the words of what failed", async () => {
    const state = await control(() => Promise.reject(Object.assign(new Error("no disk"), { code: "STORE_FAILED" })));
    expect(await askServer(state, { op: "sweep" })).toEqual({ ok: false, code: "STORE_FAILED", message: "no disk" });
  });

  it("that a killed server has left is nobody's, and the next server takes its place", async () => {
    const state = await openStateFolder(join(scratchFolder(), "s"));
    expect(await askServer(state, { op: "sweep" })).toBeUndefined();
    writeFileSync(state.control, "");
    const server = await openControlServer(state, done);
    expect(await askServer(state, { op: "sweep" })).toMatchObject({ ok: true });
    await server.close();
    expect(existsSync(state.control)).toBe(false);
    expect(await askServer(state, { op: "sweep" })).toBeUndefined();
  });

  it.each(["", "{\n", '{"ok":true}\n', '{"ok":false}\n', "1\n"])(
    "that answers %j is said to have failed",
    async (answer) => {
      const state = await openStateFolder(join(scratchFolder(), "s"));
      const server = createServer((socket) => socket.end(answer)).listen(state.control);
      onTestFinished(() => void server.close());
      await expect(askServer(state, { op: "sweep" })).rejects.toMatchObject({ code: "CONTROL_FAILED" });
    },
  );

  it("needs a short path, and says so", async () => {
    const state = await openStateFolder(join(scratchFolder(), "s".repeat(100)));
    await expect(openControlServer(state, done)).rejects.toMatchObject({ code: "STATE_UNUSABLE" });
    await expect(askServer(state, { op: "sweep" })).rejects.toMatchObject({ code: "STATE_UNUSABLE" });
  });
});
