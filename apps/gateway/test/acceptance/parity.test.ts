/** Real servers behind the gateway answer as they do direct, compared frame by frame. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, describe, expect } from "vitest";
import { partTest } from "../../../../fixtures/parts.js";
import { handshake, type RawClient, startRawClient } from "./raw-client.js";
import { type RealServer, realServers, withoutClock } from "./real-servers.js";

const bin = fileURLToPath(new URL("../../bin/berth-gateway.js", import.meta.url));
const scratch = mkdtempSync(join(tmpdir(), "berth-acceptance-"));
afterAll(() => rmSync(scratch, { recursive: true, force: true }));

/** What both sides run under: little enough that the gateway passes all of it on. */
const environment = { PATH: process.env["PATH"] ?? "", HOME: process.env["HOME"] ?? "/" };

interface Answers {
  readonly lists: Readonly<Record<"tools" | "prompts" | "resources" | "resourceTemplates", string>>;
  readonly calls: readonly string[];
  readonly prompts: readonly string[];
  readonly resources: readonly string[];
}

/** Asks everything of one server, in an order and with ids that are the same each time. `prefix` goes before names. */
async function ask(client: RawClient, server: RealServer, prefix = ""): Promise<Answers> {
  const lists = {
    tools: await client.request("tools/list", {}, 10),
    prompts: await client.request("prompts/list", {}, 11),
    resources: await client.request("resources/list", {}, 12),
    resourceTemplates: await client.request("resources/templates/list", {}, 13),
  };
  const calls: string[] = [];
  for (const [index, call] of server.calls.entries()) {
    const params = { name: prefix + call.tool, arguments: call.arguments };
    const answer = await client.request("tools/call", params, 100 + index);
    calls.push(call.settle?.(answer) ?? answer);
  }
  const prompts: string[] = [];
  for (const [index, prompt] of server.prompts.entries()) {
    const params = { ...prompt, name: prefix + prompt.name };
    prompts.push(withoutClock(await client.request("prompts/get", params, 200 + index)));
  }
  const resources: string[] = [];
  for (const [index, uri] of server.resources.entries()) {
    resources.push(await client.request("resources/read", { uri }, 300 + index));
  }
  return { lists, calls, prompts, resources };
}

/** What the gateway adds for every node, so that no planted compile cache runs; servers tell their environment. */
const added = { NODE_DISABLE_COMPILE_CACHE: "1" };

const askDirect = async (server: RealServer): Promise<Answers & { readonly initialize: string }> => {
  await using client = startRawClient(server.command, server.args, {
    env: { ...environment, ...added, ...server.env },
  });
  return { initialize: await handshake(client), ...(await ask(client, server)) };
};

type Listed = { readonly result?: Readonly<Record<string, unknown>> };

/** The named list inside an answer, or undefined when the server has no such method. */
function listIn(line: string, kind: string): readonly unknown[] | undefined {
  const message: Listed = JSON.parse(line);
  const list = message.result?.[kind];
  return Array.isArray(list) ? list : undefined;
}

const servers = realServers();

describe("`run`, one server under its own names", () => {
  for (const server of servers) {
    partTest(...server.needs)(
      `${server.name}: every answer is the same, byte for byte`,
      async () => {
        const direct = await askDirect(server);
        const names = Object.keys(server.env ?? {}).flatMap((name) => ["--env", name]);
        const args = [bin, "run", "--state", join(scratch, `run-${server.name}`), ...names, "--"];
        await using client = startRawClient(process.execPath, [...args, server.command, ...server.args], {
          env: { ...environment, ...server.env },
        });
        const through = { initialize: await handshake(client), ...(await ask(client, server)) };
        expect(through.initialize).toBe(direct.initialize);
        expect(through.lists.tools).toBe(direct.lists.tools);
        for (const kind of ["prompts", "resources", "resourceTemplates"] as const) {
          const list = listIn(direct.lists[kind], kind);
          if (list !== undefined) expect(through.lists[kind]).toBe(direct.lists[kind]);
        }
        expect(through.calls).toEqual(direct.calls);
        expect(through.prompts).toEqual(direct.prompts);
        expect(through.resources).toEqual(direct.resources);
      },
      120_000,
    );

    partTest(...server.needs)(
      `${server.name}: every tool was called, or is named with the reason`,
      async () => {
        const direct = await askDirect(server);
        const offered = (listIn(direct.lists.tools, "tools") ?? []).map((tool) => Object(tool).name);
        const covered = new Set([...server.calls.map((call) => call.tool), ...Object.keys(server.notCalled ?? {})]);
        expect(offered.filter((name) => !covered.has(name))).toEqual([]);
        const prompts = (listIn(direct.lists.prompts, "prompts") ?? []).map((prompt) => Object(prompt).name);
        expect(prompts.filter((name) => !server.prompts.some((prompt) => prompt.name === name))).toEqual([]);
      },
      120_000,
    );
  }
});

describe("`serve`, several servers under prefixed names", () => {
  const needs = [...new Set(servers.flatMap((server) => server.needs))];
  partTest(...needs)(
    "every answer is the same but for the prefix",
    async () => {
      const catalog = join(scratch, "catalog.json");
      const state = join(scratch, "serve");
      const entries = servers.map(({ name, command, args, env }) => [
        name,
        { transport: "stdio", spawn: { command, args, ...(env && { env }) } },
      ]);
      writeFileSync(catalog, JSON.stringify({ version: 1, servers: Object.fromEntries(entries) }));
      const pin = startRawClient(process.execPath, [bin, "pin", "--catalog", catalog, "--state", state, "--yes"], {
        env: environment,
      });
      expect(await pin.end(), pin.stderr()).toBe(0);
      const args = [bin, "serve", "--catalog", catalog, "--state", state, "--stdio"];
      await using client = startRawClient(process.execPath, args, { env: environment });
      await handshake(client);
      for (const server of servers) {
        const direct = await askDirect(server);
        const through = await ask(client, server, `${server.name}__`);
        const own = (name: unknown): boolean => typeof name === "string" && name.startsWith(`${server.name}__`);
        for (const kind of ["tools", "prompts"] as const) {
          const shown = (listIn(through.lists[kind], kind) ?? [])
            .map((entry) => Object(entry))
            .filter(({ name }) => own(name));
          const bare = shown.map((entry) => ({ ...entry, name: entry.name.slice(server.name.length + 2) }));
          expect(bare, `${server.name} ${kind}`).toEqual(listIn(direct.lists[kind], kind) ?? []);
        }
        for (const kind of ["resources", "resourceTemplates"] as const) {
          for (const entry of listIn(direct.lists[kind], kind) ?? []) {
            expect(listIn(through.lists[kind], kind), `${server.name} ${kind}`).toContainEqual(entry);
          }
        }
        expect(through.calls).toEqual(direct.calls);
        expect(through.prompts).toEqual(direct.prompts);
        expect(through.resources.filter((_, index) => !server.resources[index]?.includes("unknown"))).toEqual(
          direct.resources.filter((_, index) => !server.resources[index]?.includes("unknown")),
        );
      }
    },
    300_000,
  );
});
