import { existsSync } from "node:fs";
import { join } from "node:path";
import { StreamableHTTPClientTransport as Http2, Client as Sdk2 } from "@modelcontextprotocol/client";
import { beforeAll, describe, expect } from "vitest";
import { partTest } from "../../../fixtures/parts.js";
import { type Served, serve } from "./plugin-host.js";
import { makeProcessWorld } from "./process-world.js";
import { rawPlugin } from "./raw-plugin.js";

const odd = `
SCHEMA = {"type": "object", "properties": {"n": {"type": "integer", "maximum": 9007199254740993}}}
NAMES = ["number", "progress", "hang", "die", "asks", "meta", "error"]
def tools(request):
    answer(request, {"resultType": "complete", "ttlMs": 0, "cacheScope": "public",
        "tools": [{"name": name, "description": name, "inputSchema": SCHEMA} for name in NAMES]})
def call(request, name, params):
    meta = params["_meta"]
    if name == "number":
        raw('{"jsonrpc":"2.0","id":%d,"result":{"resultType":"complete","content":[],"structuredContent":{"n":9007199254740993,"x":1e400,"y":0.1000}}}' % request["id"])
    elif name == "progress":
        for step in (1, 2):
            say({"method": "notifications/progress", "params": {"progressToken": meta["progressToken"], "progress": step, "total": 2, "message": "step %d" % step}})
        complete(request, "done")
    elif name == "hang":
        open(os.environ["PLUGIN_DATA"] + "/hangs", "w").close()
        cancelled = json.loads(next(lines))
        if cancelled["method"] == "notifications/cancelled" and cancelled["params"]["requestId"] == request["id"]:
            open(os.environ["PLUGIN_DATA"] + "/cancelled", "w").close()
    elif name == "die": os._exit(9)
    elif name == "meta": complete(request, json.dumps(meta))
    elif name == "error": say({"id": request["id"], "error": {"code": -31500, "message": "of its own", "data": {"why": 9007199254740993}}})
    elif "inputResponses" not in params:
        form = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}
        who = {"method": "elicitation/create", "params": {"mode": "form", "message": "Who?", "requestedSchema": form}}
        answer(request, {"resultType": "input_required", "inputRequests": {"who": who}, "requestState": "asked"})
    else:
        complete(request, params["requestState"] + " " + params["inputResponses"]["who"]["content"]["name"])
`;

/** Lists what cannot be a tool, once of each kind, among some that can. */
const wild = `
def tool(name, **more): return {"name": name, "description": "d", "inputSchema": {"type": "object"}, **more}
LIST = [
    tool("good"), tool("bad name"), tool(""), tool("a/b"), {"description": "nameless"}, {"name": 7}, "text", None, [1],
    tool("schema-list", inputSchema=[]), tool("schema-string", inputSchema={"type": "string"}), {"name": "schema-none"},
    tool("twice", title="first"), tool("twice", title="second"), tool("__proto__"), tool("constructor"),
    tool("large", description="x" * 300000), tool("last"), tool("x" * 200),
]
def tools(request):
    text = json.dumps({"id": request["id"], "jsonrpc": "2.0", "result": {"resultType": "complete", "ttlMs": 0, "cacheScope": "public", "tools": LIST}})
    raw(text.replace('"title": "first"', '"title": "first", "__proto__": {"polluted": true}'))
def call(request, name, params): complete(request, name)
`;

const many = `
def tools(request):
    at = int(request["params"].get("cursor", "0"))
    page = [{"name": "t%d" % n, "inputSchema": {"type": "object"}} for n in range(at, at + 100)]
    more = {} if at >= 1900 else {"nextCursor": str(at + 100)}
    answer(request, {"resultType": "complete", "ttlMs": 0, "cacheScope": "public", "tools": page, **more})
def call(request, name, params): complete(request, name)
`;

const endless = `
def tools(request):
    answer(request, {"resultType": "complete", "ttlMs": 0, "cacheScope": "public", "tools": [], "nextCursor": "again"})
def call(request, name, params): complete(request, name)
`;

const silent = `
def tools(request): os._exit(3)
def call(request, name, params): complete(request, name)
`;

const world = makeProcessWorld();
const { options, path: state } = world.state("state");
let served: Served;

const sources = { odd, wild, many, endless, silent };
beforeAll(() => {
  for (const [name, code] of Object.entries(sources)) world.executable(name, rawPlugin(name, code));
});

const clientInfo = { name: "test", version: "1" };
const versions = {
  legacy: { versionNegotiation: { mode: "legacy" } },
  modern: { versionNegotiation: { mode: { pin: "2026-07-28" } } },
} as const;
type Era = keyof typeof versions;

async function connected<T>(era: Era, use: (client: Sdk2) => Promise<T>, url: string): Promise<T> {
  const client = new Sdk2(clientInfo, { ...versions[era], capabilities: { elicitation: { form: {} } } });
  client.setRequestHandler("elicitation/create", async ({ params }) => ({
    action: params.message === "Who?" ? "accept" : "decline",
    content: { name: "Ada" },
  }));
  await client.connect(new Http2(new URL(`${url}/mcp`)));
  try {
    return await use(client);
  } finally {
    await client.close();
  }
}

/** The bytes of an answer to a client of 2026-07-28. */
async function rawAnswer(url: string, name: string): Promise<string> {
  const meta = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": { elicitation: { form: {} } },
  };
  const response = await fetch(`${url}/mcp`, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      "mcp-protocol-version": "2026-07-28",
      "mcp-method": "tools/call",
      "mcp-name": name,
    },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params: { _meta: meta, name, arguments: {} } }),
  });
  return response.text();
}

async function start(plugins: readonly string[]): Promise<Served> {
  const config = world.config(
    `${plugins.join("-")}.yaml`,
    Object.fromEntries(plugins.map((name) => [name, `dir: ${name}`])),
  );
  return serve({ options }, ["--config", config]);
}

const confined = (title: string, test: (url: string) => unknown, plugins: readonly string[] = ["odd"]): void =>
  partTest("bubblewrap", "python3")(
    title,
    async () => {
      served = await start(plugins);
      await test(served.url);
    },
    120_000,
  );

describe.each(["legacy", "modern"] as const)("a %s client of a plugin", (era) => {
  confined(
    "hears of its progress, cancels what it asked, and is told when the plugin ends; the next call works",
    async (url) => {
      await connected(
        era,
        async (client) => {
          const heard: unknown[] = [];
          const onprogress = (told: unknown): void => void heard.push(told);
          const { content } = await client.callTool({ name: "odd__progress" }, { onprogress });
          expect(content).toEqual([{ type: "text", text: "done" }]);
          expect(heard).toMatchObject([
            { progress: 1, total: 2, message: "step 1" },
            { progress: 2, total: 2, message: "step 2" },
          ]);

          const data = join(state, "plugins", "odd");
          const ending = new AbortController();
          const hanging = client.callTool({ name: "odd__hang" }, { signal: ending.signal });
          await expect.poll(() => existsSync(join(data, "hangs")), { timeout: 20_000 }).toBe(true);
          ending.abort("enough");
          await expect(hanging).rejects.toThrow();
          await expect.poll(() => existsSync(join(data, "cancelled")), { timeout: 20_000 }).toBe(true);

          await expect(client.callTool({ name: "odd__die" })).rejects.toMatchObject({
            code: -31102,
            data: { code: "PLUGIN_EXITED" },
          });
          await expect(client.callTool({ name: "odd__error" })).rejects.toMatchObject({ code: -31500 });
          const meta = await client.callTool({ name: "odd__meta" });
          expect(JSON.stringify(meta.content)).toContain("2026-07-28");
          expect(JSON.stringify(meta.content)).toContain("elicitation");
        },
        url,
      );
    },
  );

  confined("answers what the plugin asks", async (url) => {
    const { content } = await connected(era, (client) => client.callTool({ name: "odd__asks" }), url);
    expect(content).toEqual([{ type: "text", text: "asked Ada" }]);
  });
});

confined(
  "a client of 2026-07-28 is given a plugin's questions, and the digits of its numbers, as they are",
  async (url) => {
    const asked = await rawAnswer(url, "odd__asks");
    expect(asked).toContain('"resultType":"input_required"');
    expect(asked).toContain('"requestState":"asked"');
    expect(asked).toContain('"message":"Who?"');
    expect(await rawAnswer(url, "odd__number")).toContain('"n":9007199254740993,"x":1e400,"y":0.1');
  },
);

confined("a call that a plugin cannot be given, or does not answer, says why", async (url) => {
  await connected(
    "modern",
    async (client) => {
      const text = "x".repeat(5 * 1024 * 1024);
      await expect(client.callTool({ name: "odd__meta", arguments: { text } })).rejects.toMatchObject({ code: -32602 });
      for (let crash = 1; crash <= 3; crash += 1)
        await expect(client.callTool({ name: "odd__die" })).rejects.toMatchObject({ data: { code: "PLUGIN_EXITED" } });
      await expect(client.callTool({ name: "odd__meta" })).rejects.toMatchObject({
        code: -31102,
        data: { code: "PLUGIN_QUARANTINED" },
      });
    },
    url,
  );
});

confined(
  "what cannot be a tool is left out and told; the others, and those of other plugins, are served",
  async (url) => {
    await connected(
      "modern",
      async (client) => {
        const { tools } = await client.listTools();
        const names = tools.map(({ name }) => name);
        const ofWild = names.filter((name) => name.startsWith("wild__"));
        expect(ofWild.slice(0, 5)).toEqual([
          ...["wild__good", "wild__twice", "wild____proto__", "wild__constructor", "wild__last"],
        ]);
        expect(ofWild).toHaveLength(6);
        expect(ofWild[5]).toMatch(/^wild__x{113}_[0-9a-f]{8}$/u);
        expect(tools.find(({ name }) => name === "wild__twice")).toMatchObject({ title: "first" });
        expect(names.filter((name) => name.startsWith("many__"))).toHaveLength(1_024);
        expect(names).toContain("odd__number");
        for (const name of ["wild____proto__", "wild__constructor", "many__t1023", ofWild[5] ?? ""])
          expect(await client.callTool({ name })).toMatchObject({ content: [{ type: "text" }] });
      },
      url,
    );
    const told = served.said().flatMap((line) => {
      const { msg, plugin, level }: { msg?: string; plugin?: string; level?: number } = JSON.parse(line);
      return level !== undefined && level >= 40 ? [`${plugin ?? ""}: ${msg ?? ""}`] : [];
    });
    const about = (words: string): number => told.filter((line) => line.includes(words)).length;
    expect(about("tools of plugins are left out")).toBe(1);
    expect(about("cannot start")).toBe(0); // it serves the others
    for (const name of ["wild__bad name", "wild__a/b", "wild__schema-list", "wild__schema-none", "wild__twice"])
      expect(told.join("\n")).toContain(name);
    expect(about("wild: 3 tools without a name")).toBe(1);
    expect(about("wild: 3 entries of its list that are no tools")).toBe(1);
    expect(about("wild: 1 tools are left out: over")).toBe(1);
    expect(about("many: it lists more than 1024 tools")).toBe(1);
    expect(about("endless: its list has more than 64 pages")).toBe(1);
    expect(about("silent: its tools cannot be listed")).toBe(1);
  },
  ["wild", "many", "endless", "silent", "odd"],
);
