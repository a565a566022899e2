/** A workplace whose gateway has plugins: code, plugins.yaml, gateway.yaml, and the wheel of the framework's stand-in. */
import { execFileSync } from "node:child_process";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type Connected, connect, type GatewayOptions, type Workplace, workplace } from "./gateway.js";

const makeWheel = fileURLToPath(new URL("../../../fixtures/cpex-stub/make_wheel.py", import.meta.url));

/** What the plugin does is said by the text that it is shown. */
const code = `
import json, os, sys, time

def text_of(payload):
    return json.dumps(payload)

class Guard:
    def __init__(self, config):
        self.config = config
    def before(self, payload, args):
        what = args.get("what")
        if what == "deny":
            return {"continue_processing": False, "violation": {
                "reason": "not \\u001b[31mthis", "description": "it is forbidden", "code": "FORBIDDEN",
                "details": {"where": "args", "bell": "\\u0007"}}}
        if what == "huge":
            return {"continue_processing": False, "violation": {
                "reason": "r" * 5000, "description": "", "code": "HUGE", "details": {"fill": "x" * 100000}}}
        if what == "bare":
            return {"continue_processing": False}
        if what == "mask":
            return {"modified_payload": {**payload, "args": {**args, "text": "***"}}}
        if what == "rename":
            return {"modified_payload": {**payload, "name": args["to"]}}
        if what == "spoil":
            return {"modified_payload": {**payload, "args": ["no", "object"]}}
        if what == "raise":
            raise ValueError("private words of a traceback")
        if what == "exit":
            sys.stderr.write("last words\\n")
            sys.stderr.flush()
            os._exit(6)
        if what == "hang":
            time.sleep(3600)
        if what == "wait":
            # Until the test has seen that nobody waits any more; then an answer that would change the call.
            at = args["at"]
            open(os.path.join(at, "asked"), "w").close()
            while not os.path.exists(os.path.join(at, "go")):
                time.sleep(0.01)
            open(os.path.join(at, "answers"), "w").close()
            return {"modified_payload": {**payload, "args": {"text": "a late answer"}}}
        if what == "print":
            print("a line")
            sys.stdout.write("and a start {")
        if what == "flood":
            for number in range(20000):
                print("line", number)
        if what == "twice":
            task = sys._getframe(2).f_locals.get("task") or {}
            print(json.dumps({"continue_processing": True, "request_id": task.get("request_id", "x")}), flush=True)
        return {}
    def after(self, payload, member):
        value = json.dumps(payload[member])
        if "DENY-AFTER" in value:
            return {"continue_processing": False, "violation": {
                "reason": "not out", "description": "", "code": "NOT_OUT", "details": {}}}
        if "secret" in value:
            return {"modified_payload": {**payload, member: json.loads(value.replace("secret", "***"))}}
        return {}
    async def tool_pre_invoke(self, payload, context):
        return self.before(payload, payload.get("args") or {})
    async def tool_post_invoke(self, payload, context):
        return self.after(payload, "result")
    async def prompt_pre_fetch(self, payload, context):
        args = payload.get("args") or {}
        if args.get("who") == "nobody":
            return {"continue_processing": False}
        return {"modified_payload": {**payload, "args": {"who": args.get("who", "") + "!"}}}
    async def prompt_post_fetch(self, payload, context):
        return self.after(payload, "result")
    async def resource_pre_fetch(self, payload, context):
        if payload["uri"] == "note:two":
            return {"modified_payload": {**payload, "uri": "note:three"}}
        return {}
    async def resource_post_fetch(self, payload, context):
        return self.after(payload, "content")

class Notes:
    """Tells the hook after a call what the hook before it was told."""
    def __init__(self, config):
        self.config = config
    async def tool_pre_invoke(self, payload, context):
        ids = {"request": context["global_context"]["request_id"], "server": context["global_context"]["server_id"]}
        return {"context": {"state": ids, "global_context": {"state": {}}}}
    async def tool_post_invoke(self, payload, context):
        told = {"noted": context["state"], "now": context["global_context"]["request_id"]}
        return {"modified_payload": {**payload, "result": {"content": [{"type": "text", "text": json.dumps(told)}]}}}

class Message:
    """The same by messages of the framework."""
    def __init__(self, config):
        self.config = config

def cmf_before(self, payload, context):
    part = payload["message"]["content"][0]
    if part["content"]["arguments"].get("what") == "cmf-deny":
        return {"continue_processing": False}
    content = {**part["content"], "arguments": {"seen": part["content_type"], **part["content"]["arguments"]}}
    return {"modified_payload": {"message": {**payload["message"], "content": [{**part, "content": content}]}}}

def cmf_after(self, payload, context):
    text = json.dumps(payload).replace("secret", "###")
    return {"modified_payload": json.loads(text)} if "###" in text else {}

setattr(Message, "cmf.tool_pre_invoke", cmf_before)
for name in ("cmf.tool_post_invoke", "cmf.prompt_post_fetch", "cmf.resource_post_fetch"):
    setattr(Message, name, cmf_after)
`;

/** All hooks of a call. */
export const allHooks =
  "tool_pre_invoke, tool_post_invoke, prompt_pre_fetch, prompt_post_fetch, resource_pre_fetch, resource_post_fetch";

/** An entry of plugins.yaml, but for its name. */
export const entryOf = (className: string, hooks = allHooks, more = ""): string =>
  `kind: isolated_venv, hooks: [${hooks}], config: { class_name: my_pkg.${className}, requirements_file: requirements.txt, timeout_secs: 5 }${more}`;

/** Entries by their names, each one of `entryOf`. */
export type Entries = Readonly<Record<string, string>>;

export interface PluginPlace extends Workplace {
  readonly config: string;
  /** The arguments of `run` with the plugins and the server of this folder. */
  readonly run: readonly string[];
  writePlugins(entries: Entries, settings?: string): Promise<void>;
  /** Connects a client to `run`. */
  open(options?: GatewayOptions): Promise<Connected>;
}

export async function pluginPlace(entries: Entries, settings = "{}"): Promise<PluginPlace> {
  const place = await workplace();
  const { folder } = place;
  const pkg = join(folder, "hooks", "plugins", "my_pkg");
  const wheels = join(folder, "wheels");
  await mkdir(pkg, { recursive: true });
  await mkdir(wheels);
  await writeFile(join(pkg, "__init__.py"), code);
  await writeFile(join(pkg, "requirements.txt"), "cpex\n");
  execFileSync("python3", [makeWheel, wheels]);
  const config = join(folder, "gateway.yaml");
  await writeFile(config, "plugins: { file: hooks/plugins.yaml, wheels: [wheels] }\n");
  const server = join(folder, "small", "hook-server.mjs");
  const run = ["run", "--config", config, "--state", place.state, "--", process.execPath, server];
  const writePlugins: PluginPlace["writePlugins"] = (plugins, set = "{}") => {
    const lines = Object.entries(plugins).map(([name, rest]) => `  - { name: ${name}, ${rest} }\n`);
    return writeFile(join(folder, "hooks", "plugins.yaml"), `plugins:\n${lines.join("")}plugin_settings: ${set}\n`);
  };
  await writePlugins(entries, settings);
  return { ...place, config, run, writePlugins, open: (options) => connect(run, options) };
}
