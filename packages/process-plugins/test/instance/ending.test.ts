import { existsSync, mkdirSync, readFileSync, renameSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { emptyFolder } from "../support/plugin-folder.js";
import { rejection } from "../support/rejection.js";
import { processesOf } from "./processes-of.js";
import { mcpParams, observe, pythonPlugin, whenAsked } from "./scripted-plugin.js";

const note = (word: string): string => `open(os.environ["PLUGIN_DATA"] + "/${word}", "w").close()`;
const brief = { timeouts: { stopMs: 200, exitMs: 5_000, terminateMs: 5_000 } };

it("one that ignores stop and exits at the end of its input gets no signal", async () => {
  const { open, dataFolder } = await observe(
    pythonPlugin(`
import signal
def onTerm(*_): ${note("term")}
signal.signal(signal.SIGTERM, onTerm)
for request in requests():
    if request["method"] != "ave/instance/stop": usual(request)
${note("ended")}
`),
  );
  const instance = await open(brief);
  await instance.close();
  expect(await instance.ended).toMatchObject({ reason: "timeout", code: 0, confirmed: true });
  expect([existsSync(join(dataFolder, "ended")), existsSync(join(dataFolder, "term"))]).toEqual([true, false]);
});

it.each([{ allowUnconfined: false }, { allowUnconfined: true }])(
  "one that stays after the end of its input gets SIGTERM before anything else: unconfined $allowUnconfined",
  async (mode) => {
    const { open, dataFolder, folder } = await observe(
      pythonPlugin(`
import signal
def onTerm(*_):
    ${note("term")}
    os._exit(5)
signal.signal(signal.SIGTERM, onTerm)
for request in requests():
    if request["method"] != "ave/instance/stop": usual(request)
while True: signal.pause()
`),
    );
    const instance = await open({ ...mode, timeouts: { stopMs: 200, exitMs: 200, terminateMs: 20_000 } });
    await instance.close();
    expect(await instance.ended).toMatchObject({ reason: "timeout", code: 5, confirmed: true });
    expect(existsSync(join(dataFolder, "term"))).toBe(true);
    expect(processesOf(folder)).toEqual([]);
  },
);

it("close may be called often and at once, also beside kill; all see the same end", async () => {
  const { open, events } = await observe(pythonPlugin(""));
  const instance = await open();
  await Promise.all([instance.close(), instance.close(), instance[Symbol.asyncDispose]()]);
  await Promise.all([instance.close(), instance.kill()]);
  expect(await instance.ended).toMatchObject({ reason: "destroyed" });
  expect(events.filter(({ type }) => type === "plugin.ended")).toHaveLength(1);
});

it("kill waits for nothing, also while a close waits", async () => {
  const { open } = await observe(whenAsked("ave/instance/stop", "pass"));
  const instance = await open();
  const call = rejection(instance.request("no/answer", mcpParams())).catch(() => undefined);
  const closing = instance.close();
  await instance.kill();
  await closing;
  expect(await instance.ended).toMatchObject({ reason: "killed", confirmed: true });
  await call;
});

it("calls under way may still be answered while it stops, and new ones are refused", async () => {
  const { open } = await observe(
    pythonPlugin(`
kept = []
for request in requests():
    if request["method"] == "tools/call": kept.append(request)
    else:
        if request["method"] == "ave/instance/stop": usual(kept.pop())
        usual(request)
`),
  );
  const instance = await open();
  const call = instance.request("tools/call", mcpParams({ arguments: 1 }));
  const closing = instance.close();
  expect((await rejection(instance.request("tools/call", mcpParams()))).code).toBe("PLUGIN_NOT_RUNNING");
  expect(await call).toMatchObject({ content: [{ text: "1" }] });
  await closing;
  expect((await instance.ended).reason).toBe("destroyed");
});

it("an end that cannot be recorded is told by close, and the plugin is gone all the same", async () => {
  const { open, folder } = await observe(pythonPlugin(""));
  const instance = await open({
    record: ({ type }) => {
      if (type === "plugin.ended") throw new Error("disk full");
    },
  });
  const error = await rejection(instance.close());
  expect(error.code).toBe("NOT_RECORDED");
  expect(await instance.ended).toMatchObject({ reason: "destroyed", confirmed: true });
  expect(processesOf(folder)).toEqual([]);
});

it("a start whose record fails is undone", async () => {
  const observed = await observe(pythonPlugin(""));
  const error = await rejection(
    observed.open({
      record: ({ type }) => {
        if (type === "plugin.started") throw new Error("disk full");
      },
    }),
  );
  expect(error.code).toBe("NOT_RECORDED");
  expect(processesOf(observed.folder)).toEqual([]);
});

it("a start that is aborted while the plugin does not answer leaves nothing", async () => {
  const observed = await observe(whenAsked("ave/instance/create", 'os.write(2, b"asked\\n")'));
  const abort = new AbortController();
  const reason = new Error("enough");
  const onLog = (): void => abort.abort(reason);
  await expect(observed.open({ signal: abort.signal, onLog })).rejects.toBe(reason);
  expect(processesOf(observed.folder)).toEqual([]);
  expect(observed.events.at(-1)).toMatchObject({ type: "plugin.ended", reason: "killed", confirmed: true });
});

it("a data folder in which the plugin put links to secrets is not followed, and nothing behind them changes", async () => {
  const secrets = emptyFolder();
  mkdirSync(join(secrets, "home"));
  writeFileSync(join(secrets, "secret"), "hidden");
  const observed = await observe(
    whenAsked(
      "tools/call",
      `
data = os.environ["PLUGIN_DATA"]
for name in ("home", "tmp"):
    os.rename(data + "/" + name, data + "/old-" + name)
    os.symlink(request["params"]["secrets"], data + "/" + name)
usual(request)`,
    ),
  );
  const instance = await observed.open();
  await instance.request("tools/call", mcpParams({ secrets }));
  await instance.close();
  expect((await rejection(observed.open())).code).toBe("PLUGIN_NOT_STARTED");
  expect(existsSync(join(secrets, "tmp"))).toBe(false);
  expect(readFileSync(join(secrets, "secret"), "utf8")).toBe("hidden");
  expect(observed.events.at(-1)).toMatchObject({ type: "plugin.ended", reason: "not-started" });
});

it("a data folder that became a link is refused", async () => {
  const secrets = emptyFolder();
  const observed = await observe(pythonPlugin(""));
  await (await observed.open()).close();
  renameSync(observed.dataFolder, `${observed.dataFolder}-old`);
  symlinkSync(secrets, observed.dataFolder);
  expect((await rejection(observed.open())).code).toBe("OPTION_INVALID");
  expect(existsSync(join(secrets, "home"))).toBe(false);
});
