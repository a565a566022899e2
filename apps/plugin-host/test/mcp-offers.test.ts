import { existsSync, rmSync } from "node:fs";
import { join } from "node:path";
import { StreamableHTTPClientTransport as Http2, Client as Sdk2 } from "@modelcontextprotocol/client";
import { Client as Sdk1 } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport as Http1 } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { beforeAll, describe, expect } from "vitest";
import { partTest } from "../../../fixtures/parts.js";
import { type Served, serve, talk } from "./plugin-host.js";
import { logged, makeProcessWorld } from "./process-world.js";
import { rawPlugin } from "./raw-plugin.js";

/** What plugins here have in common: `has` are their capabilities, `listed` answers a list. */
const base = `
HINTS = {"resultType": "complete", "ttlMs": 0, "cacheScope": "public"}
def has(*names): METHODS["server/discover"] = lambda request: answer(request, {**HINTS, "supportedVersions": ["2026-07-28"], "capabilities": {name: {} for name in names}})
def listed(method, member, entries): METHODS[method] = lambda request: answer(request, {**HINTS, member: entries})
def tools(request): answer(request, {**HINTS, "tools": [{"name": "ping", "inputSchema": {"type": "object"}}]})
def call(request, name, params): complete(request, "pong")
def refuse(request, code, message, data): say({"id": request["id"], "error": {"code": code, "message": message, "data": data}})
`;

const odd = `${base}
has("prompts", "resources", "completions")
listed("prompts/list", "prompts", [{"name": name} for name in ["asks", "die", "error", "meta", "number"]])
listed("resources/list", "resources", [{"uri": "odd://" + name, "name": name} for name in ["asks", "die", "hang", "number", "shared"]])
listed("resources/templates/list", "resourceTemplates", [{"uriTemplate": "odd://of/{name}", "name": "of"}])
def serve(request, name, wrap):
    params = request["params"]
    if name == "die": os._exit(9)
    elif name == "error": refuse(request, -31500, "of its own", {"why": 1})
    elif name == "meta": answer(request, wrap(json.dumps(params["_meta"])))
    elif name == "number": raw('{"jsonrpc":"2.0","id":%d,"result":{"resultType":"complete","messages":[],"contents":[],"_meta":{"n":9007199254740993,"x":1e400,"y":0.1000}}}' % request["id"])
    elif name == "hang":
        open(os.environ["PLUGIN_DATA"] + "/hangs", "w").close()
        cancelled = json.loads(next(lines))
        if cancelled["method"] == "notifications/cancelled" and cancelled["params"]["requestId"] == request["id"]:
            open(os.environ["PLUGIN_DATA"] + "/cancelled", "w").close()
    elif name == "asks" and "inputResponses" not in params:
        form = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}
        who = {"method": "elicitation/create", "params": {"mode": "form", "message": "Who?", "requestedSchema": form}}
        answer(request, {"resultType": "input_required", "inputRequests": {"who": who}, "requestState": "asked"})
    elif name == "asks": answer(request, wrap(params["requestState"] + " " + params["inputResponses"]["who"]["content"]["name"]))
    else: answer(request, wrap("odd " + name))
def of_prompt(text): return {**HINTS, "messages": [{"role": "user", "content": {"type": "text", "text": text}}]}
def get(request): serve(request, request["params"]["name"], of_prompt)
def read(request):
    uri = request["params"]["uri"]
    serve(request, uri[6:], lambda text: {**HINTS, "contents": [{"uri": uri, "text": text}]})
METHODS["prompts/get"], METHODS["resources/read"] = get, read
METHODS["completion/complete"] = lambda request: answer(request, {"resultType": "complete", "completion": {"values": [json.dumps(request["params"]["ref"])]}})
`;

/** Lists what cannot be one, once of each kind, among some that can, and what the plugin before it lists. */
const wild = `${base}
has("tools", "prompts", "resources")
BIDI, CONTROL = chr(0x202e), chr(7)
listed("prompts/list", "prompts", [
    {"name": "good"}, {"name": "with space ✓"}, {"name": "", "title": "x"}, {"title": "nameless"}, {"name": 7}, "text", None, [1],
    {"name": "bidi" + BIDI}, {"name": "bell" + CONTROL}, {"name": "title", "title": 7}, {"name": "arguments", "arguments": "many"},
    {"name": "argument", "arguments": [{"description": "nameless"}]}, {"name": "icons", "icons": [{}]}, {"name": "twice"}, {"name": "twice"},
    {"name": "__proto__"}, {"name": "large", "description": "x" * 300000}, {"name": "x" * 200},
])
listed("resources/list", "resources", [
    {"uri": "wild://good", "name": "good"}, {"uri": "odd://shared", "name": "stolen"}, {"uri": "relative", "name": "x"}, {"uri": "wild://nameless"},
    {"name": "no uri"}, {"uri": "wild://bidi" + BIDI, "name": "x"}, {"uri": "wild://priority", "name": "x", "annotations": {"priority": 7}},
    {"uri": "wild://size", "name": "x", "size": "7"}, {"uri": "wild://mime", "name": "x", "mimeType": None}, {"uri": "wild://twice", "name": "a"},
    {"uri": "wild://twice", "name": "b"}, 7, {"uri": "wild://" + "x" * 9000, "name": "long"},
])
listed("resources/templates/list", "resourceTemplates", [
    {"uriTemplate": "wild://of/{name}", "name": "of"}, {"uriTemplate": "wild://{open", "name": "x"}, {"uriTemplate": "odd://of/{name}", "name": "stolen"},
    {"uriTemplate": "wild://" + "{x}" * 200, "name": "long"},
])
METHODS["prompts/get"] = lambda request: answer(request, {**HINTS, "messages": [{"role": "user", "content": {"type": "text", "text": request["params"]["name"]}}]})
METHODS["resources/read"] = lambda request: answer(request, {**HINTS, "contents": [{"uri": request["params"]["uri"], "text": "wild"}]})
`;

const many = `${base}
has("prompts", "resources")
def pages(member, entry):
    def method(request):
        at = int(request["params"].get("cursor", "0"))
        more = {} if at >= 1900 else {"nextCursor": str(at + 100)}
        answer(request, {**HINTS, member: [entry(n) for n in range(at, at + 100)], **more})
    return method
METHODS["prompts/list"] = pages("prompts", lambda n: {"name": "p%d" % n})
METHODS["resources/list"] = lambda request: answer(request, {**HINTS, "resources": [], "nextCursor": "again"})
METHODS["resources/templates/list"] = pages("resourceTemplates", lambda n: {"uriTemplate": "many://%d/{x}" % n, "name": "t"})
`;

/** Answers with errors and rubbish where it is asked for lists. */
const rude = `${base}
has("prompts", "resources")
METHODS["prompts/list"] = lambda request: refuse(request, -32601, "not today", None)
METHODS["resources/list"] = lambda request: answer(request, {"resources": "all"})
METHODS["resources/templates/list"] = lambda request: answer(request, [])
`;

const dying = `${base}
has("prompts", "resources")
METHODS["prompts/list"] = lambda request: os._exit(3)
`;

const undiscovered = `${base}
METHODS["server/discover"] = lambda request: refuse(request, -32601, "what?", None)
`;

/** Has prompts only. */
const toolless = `${base}
has("prompts")
listed("prompts/list", "prompts", [{"name": "only"}])
def tools(request): refuse(request, -32601, "no tools", None)
`;

const slow = `${base}
import time
def call(request, name, params):
    time.sleep(1)
    complete(request, "late")
`;

const world = makeProcessWorld();
const { options, path: state } = world.state("state");

const sources = { odd, wild, many, rude, dying, undiscovered, toolless, slow };
beforeAll(() => {
  for (const [name, code] of Object.entries(sources)) world.executable(name, rawPlugin(name, code));
});

const versions = {
  legacy: { versionNegotiation: { mode: "legacy" } },
  modern: { versionNegotiation: { mode: { pin: "2026-07-28" } } },
} as const;
type Era = keyof typeof versions;

async function connected<T>(era: Era, use: (client: Sdk2) => Promise<T>, url: string): Promise<T> {
  const client = new Sdk2(
    { name: "test", version: "1" },
    { ...versions[era], capabilities: { elicitation: { form: {} } } },
  );
  client.setRequestHandler("elicitation/create", async () => ({ action: "accept", content: { name: "Ada" } }));
  await client.connect(new Http2(new URL(`${url}/mcp`)));
  try {
    return await use(client);
  } finally {
    await client.close();
  }
}

/** The bytes of an answer to a client of 2026-07-28. */
async function rawAnswer(url: string, method: string, name: string, params: object): Promise<string> {
  const _meta = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
  };
  const response = await fetch(`${url}/mcp`, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      "mcp-protocol-version": "2026-07-28",
      "mcp-method": method,
      "mcp-name": name,
    },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params: { ...params, _meta } }),
  });
  return response.text();
}

const configOf = (plugins: readonly string[]): string =>
  world.config(`${plugins.join("-")}.yaml`, Object.fromEntries(plugins.map((name) => [name, `dir: ${name}`])));

const confined = (title: string, plugins: readonly string[], test: (served: Served) => Promise<unknown>): void =>
  partTest("bubblewrap", "python3")(
    title,
    async () => void (await test(await serve({ options }, ["--config", configOf(plugins)]))),
    120_000,
  );

describe.each(["legacy", "modern"] as const)("a %s client of a plugin's prompts and resources", (era) => {
  confined("answers what they ask", ["odd"], ({ url }) =>
    connected(
      era,
      async (client) => {
        const { messages } = await client.getPrompt({ name: "odd__asks" });
        expect(messages).toMatchObject([{ content: { text: "asked Ada" } }]);
        const { contents } = await client.readResource({ uri: "odd://asks" });
        expect(contents).toMatchObject([{ text: "asked Ada" }]);
      },
      url,
    ),
  );

  confined("is told in the words of tools why there is no answer; the next request works", ["odd"], ({ url }) =>
    connected(
      era,
      async (client) => {
        const ended = { code: -31102, message: expect.stringContaining("plugin odd has ended") };
        await expect(client.getPrompt({ name: "odd__die" })).rejects.toMatchObject(ended);
        await expect(client.readResource({ uri: "odd://die" })).rejects.toMatchObject({
          ...ended,
          data: { code: "PLUGIN_EXITED" },
        });
        await expect(client.getPrompt({ name: "odd__error" })).rejects.toMatchObject({ code: -31500 });
        const large = { who: "x".repeat(5 * 1024 * 1024) };
        await expect(client.getPrompt({ name: "odd__meta", arguments: large })).rejects.toMatchObject({ code: -32602 });
        const { messages } = await client.getPrompt({ name: "odd__meta" });
        expect(JSON.stringify(messages)).toContain("2026-07-28");

        const data = join(state, "plugins", "odd");
        for (const file of ["hangs", "cancelled"]) rmSync(join(data, file), { force: true });
        const ending = new AbortController();
        const hanging = client.readResource({ uri: "odd://hang" }, { signal: ending.signal });
        await expect.poll(() => existsSync(join(data, "hangs")), { timeout: 20_000 }).toBe(true);
        ending.abort("enough");
        await expect(hanging).rejects.toThrow();
        await expect.poll(() => existsSync(join(data, "cancelled")), { timeout: 20_000 }).toBe(true);
      },
      url,
    ),
  );
});

confined("what a plugin answers passes with the digits of its numbers", ["odd"], async ({ url }) => {
  const digits = '"n":9007199254740993,"x":1e400,"y":0.1';
  expect(await rawAnswer(url, "prompts/get", "odd__number", { name: "odd__number" })).toContain(digits);
  expect(await rawAnswer(url, "resources/read", "odd://number", { uri: "odd://number" })).toContain(digits);
});

confined("the only plugin that has resources is asked for those that it does not list", ["odd", "slow"], ({ url }) =>
  connected(
    "modern",
    async (client) => {
      expect(await client.readResource({ uri: "odd://nobody" })).toMatchObject({ contents: [{ text: "odd nobody" }] });
      const ref = { type: "ref/prompt", name: "odd__asks" } as const;
      const { completion } = await client.complete({ ref, argument: { name: "x", value: "" } });
      expect(completion.values).toEqual([
        JSON.stringify({ type: "ref/prompt", name: "asks" }).replaceAll(/[:,]/gu, "$& "),
      ]);
    },
    url,
  ),
);

const hostile = ["odd", "wild", "many", "rude", "dying", "undiscovered", "toolless"];
confined(
  "what cannot be a prompt or resource is left out and told; what others have, and what is good, is served to strict clients of each era",
  hostile,
  async ({ url, said }) => {
    const sdk1 = new Sdk1({ name: "test", version: "1" });
    await sdk1.connect(new Http1(new URL(`${url}/mcp`)));
    expect((await sdk1.listResources()).resources).toHaveLength(7);
    expect((await sdk1.listPrompts()).prompts[5]).toMatchObject({ name: "wild__good" });
    await sdk1.close();
    await connected(
      "modern",
      async (client) => {
        const { prompts } = await client.listPrompts();
        const names = prompts.map(({ name }) => name);
        expect(names.filter((name) => name.startsWith("wild__"))).toEqual([
          ...["wild__good", "wild__with space ✓", "wild__twice", "wild____proto__"],
          expect.stringMatching(/^wild__x{113}_[0-9a-f]{8}$/u),
        ]);
        expect(names.filter((name) => name.startsWith("many__"))).toHaveLength(1_024);
        expect(names).toContain("toolless__only");
        for (const name of names.filter((one) => one.startsWith("wild__")))
          expect(await client.getPrompt({ name })).toMatchObject({ messages: [{ role: "user" }] });
        const { resources } = await client.listResources();
        expect(resources.map(({ uri }) => uri)).toEqual([
          ...["asks", "die", "hang", "number", "shared"].map((name) => `odd://${name}`),
          ...["wild://good", "wild://twice"],
        ]);
        const { resourceTemplates } = await client.listResourceTemplates();
        const templates = resourceTemplates.map(({ uriTemplate }) => uriTemplate);
        expect(templates.slice(0, 2)).toEqual(["odd://of/{name}", "wild://of/{name}"]);
        expect(templates).toHaveLength(2 + 128);
        const text = async (uri: string): Promise<unknown> => (await client.readResource({ uri })).contents[0];
        expect(await text("odd://shared")).toMatchObject({ text: "odd shared" });
        expect(await text("odd://of/x")).toMatchObject({ text: "odd of/x" });
        expect(await text("wild://of/x")).toMatchObject({ text: "wild" });
        await expect(client.readResource({ uri: "wild://unlisted" })).rejects.toMatchObject({ code: -32602 });
        const { tools } = await client.listTools();
        for (const plugin of ["odd", "wild", "rude", "dying", "undiscovered"])
          expect(
            tools.map(({ name }) => name),
            plugin,
          ).toContain(`${plugin}__ping`);
      },
      url,
    );
    const told = said().flatMap((line) => {
      const { msg, plugin, level }: { msg?: string; plugin?: string; level?: number } = JSON.parse(line);
      return level !== undefined && level >= 40 ? [`${plugin ?? ""}: ${msg ?? ""}`] : [];
    });
    const about = (words: string): readonly string[] => told.filter((line) => line.includes(words));
    for (const words of [
      "wild: 3 prompts without a name are left out",
      "wild: 3 entries of its list of prompts that are no prompts are left out",
      "wild: 1 prompts are left out: over",
      "wild: 1 resources without a uri are left out",
      "wild: 1 entries of its list of resources that are no resources are left out",
      'wild: 2 resources are left out, since they are listed before by plugin odd, itself: "odd://shared", "wild://twice"',
      "wild: 1 resource templates are left out, since they are listed before by plugin odd",
      "wild: resource templates that cannot be read are left out",
      "many: it lists more than 1024 prompts",
      "many: its list of resources has more than 64 pages",
      "many: it lists more than 128 resource templates",
      "rude: its prompts cannot be listed: not today",
      "rude: 1 entries of its list of resources",
      "dying: what it has beside tools cannot be listed",
      "undiscovered: it does not say what it has beside tools: what?",
    ])
      expect(about(words), `${words} in ${told.join("\n")}`).toHaveLength(1);
    expect(about("toolless")).toEqual([]);
    const [prompts] = about("prompts of plugins are left out");
    for (const name of ["bidi\\u{202e}", "title", "arguments", "argument", "icons", "twice"])
      expect(prompts).toContain(`"wild__${name}"`);
    const [resources] = about("resources of plugins are left out");
    for (const uri of ["relative", "wild://nameless", "wild://priority", "wild://size", "wild://mime"])
      expect(resources).toContain(`"${uri}"`);
    for (const hidden of ["\u202e", "\u0007"]) expect(told.join("\n")).not.toContain(hidden);
  },
);

confined(
  "each request is in the log before it leaves and after, by what the plugin calls it",
  ["odd"],
  async (served) => {
    await connected(
      "modern",
      async (client) => {
        await client.getPrompt({ name: "odd__meta" });
        await client.getPrompt({ name: "odd__error" }).catch(() => {});
        await client.readResource({ uri: "odd://shared" });
        await client.readResource({ uri: "odd://of/secret" });
        await client.readResource({ uri: "odd://unlisted-secret" });
        const ref = { type: "ref/resource", uri: "odd://of/{name}" } as const;
        await client.complete({ ref, argument: { name: "name", value: "secret" } });
        const metrics = await (await fetch(`${served.url}/metrics`)).text();
        const counted = (method: string, outcome: string): string =>
          `plugin_host_mcp_requests_total{plugin="odd",method="${method}",outcome="${outcome}"}`;
        expect(metrics).toContain(`${counted("resources/read", "result")} 3`);
        expect(metrics).toContain(`${counted("prompts/get", "error")} 1`);
      },
      served.url,
    );
    await served.end();
    const entries = (await logged(state, "call.")).slice(-12);
    const about = { plugin: "odd", principal: "local", door: "mcp" };
    const pair = (subject: object, status: string): readonly object[] => [
      { type: "call.intent", ...about, ...subject, paramsDigest: expect.stringMatching(/^sha256:/u) },
      { type: "call.outcome", ...about, ...subject, status },
    ];
    expect(entries).toMatchObject([
      ...pair({ method: "prompts/get", prompt: "meta" }, "result"),
      ...pair({ method: "prompts/get", prompt: "error" }, "error"),
      ...pair({ method: "resources/read", resource: "odd://shared" }, "result"),
      ...pair({ method: "resources/read", template: "odd://of/{name}" }, "result"),
      ...pair({ method: "resources/read" }, "result"),
      ...pair({ method: "completion/complete", template: "odd://of/{name}" }, "result"),
    ]);
    expect(JSON.stringify(entries)).not.toContain("secret");
  },
);

partTest("bubblewrap", "python3")(
  "a client over stdio that ends its input after its last request gets the answer",
  async () => {
    const conversation = talk({ options }, ["--config", configOf(["slow"]), "--log", "silent"]);
    const _meta = {
      "io.modelcontextprotocol/protocolVersion": "2026-07-28",
      "io.modelcontextprotocol/clientCapabilities": {},
    };
    for (const id of [1, 2])
      conversation.send({
        jsonrpc: "2.0",
        id,
        method: "tools/call",
        params: { name: "slow__ping", arguments: {}, _meta },
      });
    const ended = conversation.end();
    const answers = [await conversation.next(), await conversation.next()];
    expect(answers).toMatchObject([1, 2].map((id) => ({ id, result: { content: [{ text: "late" }] } })));
    expect(await ended).toBe(0);
  },
  60_000,
);
