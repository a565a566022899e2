// `npm run demo`: the main job of the gateway on real servers, from an ordinary client configuration to a checked log; then,
// where sandboxes can be had, that of the shipyard.
// Every step is checked; the exit code is 0 only when all of them held.
import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { leaseASandbox } from "./shipyard.mjs";
import { check, fold, heading, say, show, summary } from "./story.mjs";

const here = dirname(fileURLToPath(import.meta.url));
const root = dirname(dirname(here));
const gateway = join(root, "apps", "gateway", "bin", "berth-gateway.js");
const npmServer = (name) => join(root, "node_modules", "@modelcontextprotocol", `server-${name}`, "dist", "index.js");

const folder = mkdtempSync(join(tmpdir(), "berth-demo-"));
const state = join(folder, "state");
const catalog = join(folder, "catalog.json");
const notes = join(folder, "notes", "notes-server.py");
mkdirSync(dirname(notes));
cpSync(join(here, "notes-server.py"), notes);
mkdirSync(join(folder, "files"));
writeFileSync(join(folder, "files", "hello.txt"), "hello from a file\n");

/** Runs one command of the gateway, shows it as a person would type it, and returns what it printed. */
function berth(args, { expectExit = 0, because = "" } = {}) {
  say(`$ berth-gateway ${args.map((word) => word.replace(folder, "…")).join(" ")}`);
  const run = spawnSync(process.execPath, [gateway, ...args], {
    encoding: "utf8",
    maxBuffer: 64 * 1_048_576,
    env: { ...process.env, NO_COLOR: "1" },
  });
  check(
    `exit code ${expectExit}${because}`,
    run.status === expectExit,
    `exit ${run.status}\n${run.stdout}\n${run.stderr}`,
  );
  return run;
}

async function connect(command, args) {
  const client = new Client({ name: "berth-demo", version: "1.0.0" });
  await client.connect(new StdioClientTransport({ command, args, stderr: "ignore" }));
  return client;
}
const connectThroughGateway = () =>
  connect(process.execPath, [gateway, "serve", "--catalog", catalog, "--state", state, "--stdio"]);

const textOf = (answer) => answer.content.map((block) => block.text ?? `(${block.type})`).join(" ");

async function medianCall(client, name) {
  const times = [];
  // The first thousand warm both sides up, as in any session that lasts.
  for (let call = 0; call < 1_500; call += 1) {
    const start = performance.now();
    await client.callTool({ name, arguments: { message: "latency" } });
    if (call >= 1_000) times.push(performance.now() - start);
  }
  return times.sort((a, b) => a - b)[times.length / 2];
}

function importAndPin() {
  heading("1. An ordinary client configuration");
  const configuration = {
    mcpServers: {
      everything: { command: "node", args: [npmServer("everything")] },
      filesystem: { command: "node", args: [npmServer("filesystem"), join(folder, "files")] },
      memory: { command: "node", args: [npmServer("memory")], env: { MEMORY_FILE_PATH: join(folder, "memory.jsonl") } },
      notes: { command: "python3", args: [notes] },
      fetched: { command: "npx", args: ["-y", "@modelcontextprotocol/server-everything"] },
    },
  };
  const file = join(folder, "client.json");
  writeFileSync(file, JSON.stringify(configuration, null, 2));
  show(
    Object.entries(configuration.mcpServers).map(([name, { command, args }]) => [
      name,
      [command, ...args.map((word) => word.replace(root, ".").replace(folder, "…"))].join(" "),
    ]),
  );
  fold(berth(["import", file, "--out", catalog]).stdout);

  heading("2. Measure, look, accept");
  const pinning = berth(["pin", "--catalog", catalog, "--state", state, "--yes", "--json"], {
    expectExit: 1,
    because: ", since one of the five cannot be measured",
  });
  const { servers } = JSON.parse(pinning.stdout);
  show(
    Object.entries(servers).map(([name, server]) => [
      name,
      server.status === "error"
        ? `error   ${server.error.reason}`
        : `${server.status}  ${server.digest.slice(0, 22)}  ${toolCount(server)} tools`,
    ]),
  );
  for (const name of ["everything", "filesystem", "memory", "notes"]) {
    check(`${name} is pinned`, servers[name].status === "pinned", JSON.stringify(servers[name]));
  }
  check(
    "the npx entry is refused: what it would run is not on disk yet",
    servers.fetched.status === "error",
    JSON.stringify(servers.fetched),
  );
  say(`  advice: ${servers.fetched.error.advice}`);
  return servers;
}

const toolCount = ({ tools }) => [tools].flat().length;

async function useIt(pinned) {
  heading("3. The same tools, through the gateway");
  const client = await connectThroughGateway();
  const { tools } = await client.listTools();
  const byServer = Object.groupBy(tools, (tool) => tool.name.split("__")[0]);
  show(
    Object.entries(byServer).map(([name, list]) => [
      name,
      `${list.length} of ${toolCount(pinned[name])} tools: ${list
        .slice(0, 4)
        .map((tool) => tool.name)
        .join(", ")}…`,
    ]),
  );
  say("  (a server may keep tools back from a client that lacks what they need, such as sampling)");
  check("tools of all four servers are offered", Object.keys(byServer).length === 4, Object.keys(byServer).join(" "));

  const calls = [
    ["everything__echo", { message: "hello" }, "Echo: hello"],
    ["filesystem__read_text_file", { path: join(folder, "files", "hello.txt") }, "hello from a file"],
    [
      "memory__create_entities",
      { entities: [{ name: "berth", entityType: "gateway", observations: ["measures"] }] },
      "berth",
    ],
    ["notes__add_note", { text: "measured" }, "1 notes"],
    ["notes__list_notes", {}, "measured"],
  ];
  for (const [name, given, expected] of calls) {
    const text = textOf(await client.callTool({ name, arguments: given }));
    check(`${name} → ${text.replace(/\s+/g, " ").slice(0, 60)}`, text.includes(expected), text);
  }
  const refusal = await client.callTool({ name: "fetched__echo", arguments: {} }).catch((error) => error);
  check("a call to the npx server is refused", refusal.code === -31100, String(refusal));
  say(`  ${refusal.message}`);

  const direct = await connect("node", [npmServer("everything")]);
  const [alone, through] = [await medianCall(direct, "echo"), await medianCall(client, "everything__echo")];
  say(
    `  latency of a small call, median: ${alone.toFixed(2)} ms direct, ${through.toFixed(2)} ms through the gateway (+${(through - alone).toFixed(2)} ms)`,
  );
  await direct.close();
  await client.close();
}

function lookAtTheLog() {
  heading("4. What the log says");
  const entries = berth(["audit", "tail", "--state", state, "-n", "100000", "--json"])
    .stdout.trim()
    .split("\n")
    .map((line) => JSON.parse(line));
  // Each server was started twice, to be looked at by pin and to be used: both starts are in the log.
  const spawns = entries.filter((entry) => entry.type === "spawn");
  const started = new Map(spawns.map((entry) => [entry.server, entry]));
  show(
    [...started].map(([name, entry]) => [name, `${entry.evidence}  guard ${entry.guard}  coverage ${entry.coverage}`]),
  );
  check(
    "every server that ran was measured",
    started.size === 4 && spawns.every((entry) => entry.evidence === "spawn-measured"),
    JSON.stringify(spawns),
  );
  const count = (type) => entries.filter((entry) => entry.type === type).length;
  check(
    "every call that left has an outcome",
    count("call.intent") > 5 && count("call.intent") === count("call.outcome"),
    `${count("call.intent")} ${count("call.outcome")}`,
  );
  check(
    "the log holds digests, never what was said",
    !JSON.stringify(entries).includes("hello from a file"),
    "payload found",
  );
}

async function changeAByte() {
  heading("5. One byte of a pinned server changes");
  const bytes = readFileSync(notes);
  const at = bytes.indexOf('notes"}]') === -1 ? bytes.indexOf("memory.") : bytes.indexOf('notes"}]');
  bytes[at] ^= 0x20;
  writeFileSync(notes, bytes);
  const client = await connectThroughGateway();
  const refusal = await client.callTool({ name: "notes__list_notes", arguments: {} }).catch((error) => error);
  check("the call is refused before anything runs", refusal.code === -31100, String(refusal));
  say(`  ${refusal.message}`);
  show(Object.entries(refusal.data ?? {}).map(([key, value]) => [key, String(value).replace(folder, "…")]));
  const text = textOf(await client.callTool({ name: "everything__echo", arguments: { message: "others go on" } }));
  check("the other servers go on", text === "Echo: others go on", text);
  await client.close();
}

/** The largest segment of the log below a folder. */
function segmentIn(place) {
  const files = readdirSync(place, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const paths = files.map((entry) => join(entry.parentPath, entry.name));
  return paths.sort((a, b) => readFileSync(b).length - readFileSync(a).length)[0];
}

function verify() {
  heading("6. Check the log, then damage a copy of it");
  const good = JSON.parse(berth(["audit", "verify", "--state", state, "--json"]).stdout);
  check(`${good.entries} entries verify`, good.ok === true && good.problems.length === 0, JSON.stringify(good));
  const copy = join(folder, "copy");
  cpSync(state, copy, { recursive: true });
  const segment = segmentIn(join(copy, "audit"));
  const bytes = readFileSync(segment);
  bytes[Math.floor(bytes.length / 2)] ^= 1;
  writeFileSync(segment, bytes);
  say(`  one bit flipped in ${relative(copy, segment)}`);
  const verifying = berth(["audit", "verify", "--state", copy, "--json"], { expectExit: 1, because: ": damaged" });
  const bad = JSON.parse(verifying.stdout);
  check(
    "the verifier refuses the copy and names the entry",
    bad.ok === false && Number.isInteger(bad.problems[0]?.seq),
    JSON.stringify(bad),
  );
  show(bad.problems.slice(0, 3).map((problem) => [`entry ${problem.seq}`, `${problem.code}  ${problem.message}`]));
}

try {
  await useIt(importAndPin());
  lookAtTheLog();
  await changeAByte();
  verify();
  await leaseASandbox(root);
} finally {
  rmSync(folder, { recursive: true, force: true });
}
process.exit(summary());
