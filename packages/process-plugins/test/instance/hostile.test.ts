import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { InstanceEnd, InstanceOptions, PluginInstance } from "../../src/instance/instance.js";
import { rejection } from "../support/rejection.js";
import { processesOf } from "./processes-of.js";
import { mcpParams, type Observed, observe, openBeside, pythonPlugin, whenAsked } from "./scripted-plugin.js";

/** One that does nothing wrong, runs beside all the others, and must not notice them. */
let beside: PluginInstance;
let besideEnded: InstanceEnd | undefined;
beforeAll(async () => {
  beside = await openBeside(pythonPlugin(""));
  void beside.ended.then((end) => {
    besideEnded = end;
  });
});
afterAll(() => beside.close());

async function expectNothingElse({ folder, events }: Observed): Promise<void> {
  expect(processesOf(folder)).toEqual([]);
  expect(events.at(-1)).toMatchObject({ type: "plugin.ended", confirmed: true });
  expect(await beside.request("tools/call", mcpParams({ arguments: 1 }))).toMatchObject({ resultType: "complete" });
  expect(besideEnded).toBeUndefined();
}

interface Row {
  readonly name: string;
  readonly text: string;
  readonly reason: InstanceEnd["reason"];
  readonly message: RegExp;
  readonly options?: Partial<InstanceOptions>;
}

const small = { limits: { maxMessageBytes: 65_536 } };
const brief = { timeouts: { stopMs: 200, exitMs: 200, terminateMs: 200 } };
const lines: readonly { readonly name: string; readonly written: string; readonly message: RegExp }[] = [
  {
    name: "a line that is not JSON",
    written: 'raw(b"warming up\\n")',
    message: /wrote a line that is not JSON, at byte \d+ of/,
  },
  {
    name: "invalid UTF-8",
    written: 'raw(b\'{"jsonrpc":"2.0","method":"\\xff"}\\n\')',
    message: /wrote a line that is not UTF-8/,
  },
  {
    name: "a byte order mark",
    written: 'raw(b\'\\xef\\xbb\\xbf{"jsonrpc":"2.0","method":"x"}\\n\')',
    message: /begins with a byte order mark/,
  },
  { name: "a batch", written: 'raw(b\'[{"jsonrpc":"2.0","id":1,"result":{}}]\\n\')', message: /wrote a batch/ },
  {
    name: "a request",
    written: 'say({"jsonrpc":"2.0","id":1,"method":"ping"})',
    message: /wrote a request, and a plugin never asks/,
  },
  {
    name: "an error without an id",
    written: 'say({"jsonrpc":"2.0","id":None,"error":{"code":-32700,"message":"x"}})',
    message: /without an id/,
  },
  {
    name: "an answer to an id never used",
    written: 'say({"jsonrpc":"2.0","id":999,"result":{}})',
    message: /an id that was never used/,
  },
  {
    name: "an answer with the id as a text",
    written: 'say({"jsonrpc":"2.0","id":"1","result":{}})',
    message: /an id that was never used/,
  },
  {
    name: "an answer to an id that was answered",
    written: 'say({"jsonrpc":"2.0","id":1,"result":{}})',
    message: /or is answered already/,
  },
  {
    name: "a result that is no object",
    written: 'say({"jsonrpc":"2.0","id":request["id"],"result":[1]})',
    message: /a result that is no object/,
  },
  {
    name: "an answer with two ids",
    written: 'raw(b\'{"jsonrpc":"2.0","id":1,"id":2,"result":{}}\\n\')',
    message: /no message/,
  },
  {
    name: "129 levels",
    written: 'raw(b\'{"jsonrpc":"2.0","method":"x","params":{"a":\' + b"["*127 + b"]"*127 + b"}}\\n")',
    message: /more than 128 levels/,
  },
  {
    name: "a huge line",
    written: 'raw(b"x" * 100000)\ntime.sleep(60)',
    message: /a line of more than 65536 bytes/,
  },
  {
    name: "a huge line that ends",
    written: 'raw(b\'{"jsonrpc":"2.0","method":"\' + b"x" * 100000 + b\'"}\\n\')',
    message: /a line of more than 65536 bytes/,
  },
  {
    name: "a flood of answers",
    written: 'while True: say({"jsonrpc":"2.0","id":7777,"result":{}})',
    message: /an id that was never used/,
  },
];

describe("what a plugin writes in place of its answer ends it, and the call under way with it", () => {
  const modes = [{ allowUnconfined: false }, { allowUnconfined: true }];
  it.each(
    lines.flatMap((line, index) => (index < 3 ? modes : modes.slice(0, 1)).map((mode) => ({ ...line, ...mode }))),
  )("$name, unconfined: $allowUnconfined", async ({ written, message, allowUnconfined }) => {
    const observed = await observe(whenAsked("tools/call", written));
    const instance = await observed.open({ ...small, allowUnconfined });
    const error = await rejection(instance.request("tools/call", mcpParams()));
    expect(error.code).toBe("PLUGIN_PROTOCOL");
    expect(error.message).toMatch(message);
    expect(await instance.ended).toMatchObject({ reason: "protocol", confirmed: true, message: error.message });
    expect(instance.state).toBe("failed");
    await expectNothingElse(observed);
  });
});

describe("what a plugin does before it is started ends it, and says why", () => {
  const created = (changes: string): string =>
    whenAsked("ave/instance/create", `answer(request, {**CREATED, ${changes}})`);
  const rows: readonly (Row & { readonly code: string })[] = [
    {
      name: "writes before create",
      text: pythonPlugin('say({"jsonrpc":"2.0","id":5,"result":{}})'),
      code: "PLUGIN_PROTOCOL",
      reason: "protocol",
      message: /never used/,
    },
    {
      name: "answers create before it was asked, and then again",
      text: pythonPlugin('answer({"id": 1}, CREATED)'),
      code: "PLUGIN_PROTOCOL",
      reason: "protocol",
      message: /answered already/,
    },
    {
      name: "answers start before it is asked",
      text: whenAsked(
        "ave/instance/create",
        'one = json.dumps({"jsonrpc":"2.0","id":request["id"],"result":CREATED})\ntwo = json.dumps({"jsonrpc":"2.0","id":request["id"]+1,"result":{"status":"running"}})\nraw((one + "\\n" + two + "\\n").encode())',
      ),
      code: "PLUGIN_PROTOCOL",
      reason: "protocol",
      message: /never used/,
    },
    {
      name: "answers create as MCP",
      text: whenAsked("ave/instance/create", 'answer(request, {"resultType": "complete", "tools": []})'),
      code: "PLUGIN_PROTOCOL",
      reason: "protocol",
      message: /create wrongly: protocol is missing, not 1/,
    },
    {
      name: "has another name",
      text: created('"plugin": {"name": "other", "version": "1.0.0"}'),
      code: "PLUGIN_PROTOCOL",
      reason: "protocol",
      message: /plugin.name is "other", not "smoke"/,
    },
    {
      name: "has another version",
      text: created('"plugin": {"name": "smoke", "version": "1.0.1"}'),
      code: "PLUGIN_PROTOCOL",
      reason: "protocol",
      message: /plugin.version is "1.0.1"/,
    },
    {
      name: "speaks another protocol",
      text: created('"protocol": 2'),
      code: "PLUGIN_PROTOCOL",
      reason: "protocol",
      message: /protocol is 2, not 1/,
    },
    {
      name: "says nothing of MCP",
      text: created('"capabilities": {"health": True}'),
      code: "PLUGIN_PROTOCOL",
      reason: "protocol",
      message: /capabilities.mcp is missing/,
    },
    {
      name: "has 65 hooks",
      text: created('"capabilities": {"mcp": True, "health": True, "hooks": [str(n) for n in range(65)]}'),
      code: "PLUGIN_PROTOCOL",
      reason: "protocol",
      message: /capabilities.hooks is/,
    },
    {
      name: "is not running after start",
      text: whenAsked("ave/instance/start", 'answer(request, {"status": "ready"})'),
      code: "PLUGIN_PROTOCOL",
      reason: "protocol",
      message: /start wrongly: status is "ready", not "running"/,
    },
    {
      name: "never answers create",
      text: pythonPlugin("for request in requests(): pass"),
      code: "PLUGIN_TIMEOUT",
      reason: "timeout",
      message: /did not answer ave\/instance\/create in time/,
      options: { timeouts: { createMs: 500 } },
    },
    {
      name: "never answers start",
      text: whenAsked("ave/instance/start", "pass"),
      code: "PLUGIN_TIMEOUT",
      reason: "timeout",
      message: /did not answer ave\/instance\/start in time/,
      options: { timeouts: { startMs: 200 } },
    },
    {
      name: "refuses create",
      text: whenAsked("ave/instance/create", 'refuse(request, -31003, "no")'),
      code: "PLUGIN_NOT_STARTED",
      reason: "protocol",
      message: /answered ave\/instance\/create with error -31003, before it was started/,
    },
    {
      name: "exits at once",
      text: "#!/bin/sh\necho no licence >&2\nexit 3",
      code: "PLUGIN_NOT_STARTED",
      reason: "crashed",
      message: /ended with code 3, before it was started/,
    },
    {
      name: "is no program in its language",
      text: "#!/usr/bin/python3\nthis is none\n",
      code: "PLUGIN_NOT_STARTED",
      reason: "crashed",
      message: /before it was started/,
    },
  ];
  it.each(rows)("$name", async ({ text, code, reason, message, options }) => {
    const observed = await observe(text);
    const error = await rejection(observed.open(options));
    expect(error.code).toBe(code);
    expect(error.message).toMatch(message);
    expect(observed.events.at(-1)).toMatchObject({ type: "plugin.ended", reason });
    await expectNothingElse(observed);
  });

  it("the operator is told what it said last", async () => {
    const { open } = await observe("#!/bin/sh\necho no licence >&2\nexit 3");
    expect((await rejection(open())).excerpt).toBe("no licence");
  });
});

describe("a plugin that runs and then does not behave", () => {
  const leave = `
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0: time.sleep(600)
    os._exit(0)
`;
  const rows: readonly (Row & {
    readonly act: "call" | "close" | "call and close" | "none";
    readonly both?: boolean;
    readonly code?: string;
  })[] = [
    {
      name: "exits with the call under way",
      text: whenAsked("tools/call", "os._exit(7)"),
      act: "call",
      code: "PLUGIN_EXITED",
      reason: "crashed",
      message: /ended with code 7/,
      both: true,
    },
    {
      name: "kills itself",
      text: whenAsked("tools/call", "os.kill(os.getpid(), 9)"),
      act: "call",
      code: "PLUGIN_EXITED",
      reason: "crashed",
      message: /SIGKILL|137/,
      both: true,
    },
    {
      name: "dies in the middle of a message",
      text: whenAsked("tools/call", 'raw(b\'{"jsonrpc":"2.0",\')\nos._exit(0)'),
      act: "call",
      code: "PLUGIN_EXITED",
      reason: "crashed",
      message: /ended with code 0/,
    },
    {
      name: "ends its output and never answers",
      text: whenAsked("tools/call", "os.close(1)\ntime.sleep(600)"),
      act: "call and close",
      code: "PLUGIN_TIMEOUT",
      reason: "timeout",
      message: /did not answer ave\/instance\/stop in time/,
      options: { timeouts: { ...brief.timeouts, callMs: 300 } },
    },
    {
      name: "answers health as MCP",
      text: whenAsked("ave/instance/health", 'answer(request, {"resultType": "complete"})'),
      act: "none",
      reason: "protocol",
      message: /health wrongly: status is missing/,
    },
    {
      name: "ignores stop",
      text: whenAsked("ave/instance/stop", "pass"),
      act: "close",
      reason: "timeout",
      message: /did not answer ave\/instance\/stop in time/,
      options: brief,
    },
    {
      name: "ignores stop, the end of input and SIGTERM",
      text: `${pythonPlugin("import signal\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\nfor request in requests():\n    if request['method'] != 'ave/instance/stop': usual(request)\nwhile True: time.sleep(1)")}`,
      act: "close",
      reason: "timeout",
      message: /did not answer ave\/instance\/stop in time/,
      options: brief,
      both: true,
    },
    {
      name: "answers destroy and stays",
      text: whenAsked("ave/instance/destroy", "answer(request, {})\ntime.sleep(600)"),
      act: "close",
      reason: "timeout",
      message: /did not exit when it was destroyed/,
      options: brief,
    },
    {
      name: "exits when it is stopped",
      text: whenAsked("ave/instance/stop", "os._exit(0)"),
      act: "close",
      reason: "crashed",
      message: /ended with code 0 when it was stopped/,
    },
    {
      name: "exits with another code when it is destroyed",
      text: whenAsked("ave/instance/destroy", "answer(request, {})\nos._exit(4)"),
      act: "close",
      reason: "crashed",
      message: /ended with code 4 when it was destroyed/,
    },
    {
      name: "refuses to be stopped",
      text: whenAsked("ave/instance/stop", 'refuse(request, -31002, "bad state")'),
      act: "close",
      reason: "protocol",
      message: /answered ave\/instance\/stop with error -31002/,
    },
    {
      name: "forks away and goes on",
      text: pythonPlugin(leave),
      act: "close",
      reason: "destroyed",
      message: /was stopped/,
      both: true,
    },
    {
      name: "forks away and crashes, its pipe still held",
      text: whenAsked("tools/call", `${leave.trim()}\nos._exit(1)`),
      act: "call",
      code: "PLUGIN_EXITED",
      reason: "crashed",
      message: /ended with code 1/,
      both: true,
    },
    {
      name: "keeps the pipe open after its exit",
      text: whenAsked("ave/instance/destroy", `answer(request, {})\n${leave.trim()}\nos._exit(0)`),
      act: "close",
      reason: "destroyed",
      message: /was stopped/,
      both: true,
    },
    {
      name: "deletes its data and tries its own folder",
      text: whenAsked(
        "tools/call",
        "import shutil\nshutil.rmtree(os.environ['PLUGIN_DATA'], ignore_errors=True)\nshutil.rmtree(os.environ['PLUGIN_ROOT'], ignore_errors=True)\nos._exit(0)",
      ),
      act: "call",
      code: "PLUGIN_EXITED",
      reason: "crashed",
      message: /ended with code 0/,
    },
  ];
  const cases = rows.flatMap((row) =>
    [false, ...(row.both === true ? [true] : [])].map((allowUnconfined) => ({ ...row, allowUnconfined })),
  );
  it.each(cases)(
    "$name, unconfined: $allowUnconfined",
    async ({ text, act, code, reason, message, options, allowUnconfined }) => {
      const observed = await observe(text);
      const instance = await observed.open({ ...options, allowUnconfined });
      if (act.startsWith("call"))
        expect((await rejection(instance.request("tools/call", mcpParams()))).code).toBe(code);
      if (act === "none") expect((await rejection(instance.health())).code).toBe("PLUGIN_PROTOCOL");
      if (act.endsWith("close")) await instance.close();
      const end = await instance.ended;
      expect(end).toMatchObject({ reason, confirmed: true });
      expect(end.message).toMatch(message);
      await expectNothingElse(observed);
      if (act === "call") await observed.open({ allowUnconfined }); // and it can be started again
    },
  );
});
