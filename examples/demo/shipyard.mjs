// The second part of the demo: one leased session of the shipyard, over MCP and REST, and what is left when its server is killed.
import { spawn, spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { check, heading, say, show } from "./story.mjs";

/** A session's life, its server's sudden end, and what the log says of both. Skipped, and said so, where no sandbox can be had. */
export async function leaseASandbox(root) {
  heading("7. A leased sandbox");
  const program = join(root, "apps", "shipyard", "bin", "berth-shipyard.js");
  // Not below TMPDIR: sockets lie in it, and their paths have to be short.
  const folder = mkdtempSync("/tmp/berth-demo-");
  try {
    const shipyard = commands(program, join(folder, "s"));
    const lacking = whatIsLacking(shipyard);
    if (lacking !== undefined) {
      say(`skipped, since no sandbox can be had here: ${lacking}`);
      return;
    }
    const server = await serve(program, join(folder, "s"));
    try {
      await useIt(server, shipyard);
      await killIt(server, folder);
    } finally {
      server.child.kill("SIGKILL");
      await server.ended;
    }
    lookAtWhatRan(shipyard);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Runs a command of the shipyard, shown as a person would type it. */
function commands(program, state) {
  return (args, { quiet = false } = {}) => {
    if (!quiet) say(`$ berth-shipyard ${args.join(" ")}`);
    const run = spawnSync(process.execPath, [program, ...args, "--state", state, "--json"], { encoding: "utf8" });
    return { code: run.status, stdout: run.stdout, stderr: run.stderr };
  };
}

/** Why `serve` would not start, as doctor tells it. */
function whatIsLacking(shipyard) {
  const { stdout, stderr } = shipyard(["doctor", "--http", "127.0.0.1:0"]);
  const { ok, checks } = JSON.parse(stdout || `{"ok":false,"checks":[]}`);
  const fault = checks.find(({ status }) => status === "fail");
  if (ok)
    say(`  ${checks.filter(({ status }) => status === "ok").length} of ${checks.length} things hold, found by trying`);
  return ok ? undefined : fault === undefined ? stderr : `${fault.name}: ${fault.message}. ${fault.advice ?? ""}`;
}

/** Starts a server, and waits until it says that it listens. */
async function serve(program, state) {
  say("$ berth-shipyard serve --http 127.0.0.1:0");
  const args = [program, "serve", "--http", "127.0.0.1:0", "--state", state];
  const child = spawn(process.execPath, args, { stdio: ["ignore", "ignore", "pipe"] });
  const ended = new Promise((resolve) => child.once("close", resolve));
  const url = await new Promise((resolve, reject) => {
    createInterface({ input: child.stderr }).on("line", (line) => {
      const { event, url } = line.startsWith("{") ? JSON.parse(line) : {};
      if (event === "listening") resolve(url);
    });
    void ended.then((code) => reject(new Error(`the server ended with ${code}`)));
  });
  return { child, ended, url };
}

async function useIt({ url }, shipyard) {
  const client = new Client({ name: "berth-demo", version: "1.0.0" });
  await client.connect(new StreamableHTTPClientTransport(new URL(url)));
  const call = async (name, given) => (await client.callTool({ name, arguments: given })).content[0].text;
  await call("start_python_session", { session_id: "demo" });
  await call("execute_python_code", { session_id: "demo", command: "values = [1, 2, 4, 8]" });
  const first = await call("execute_python_code", { session_id: "demo", command: "sum(values)" });
  check(`over MCP, a session keeps its variables → ${first}`, first.includes("15"), first);

  const rest = (path, code) =>
    fetch(new URL(path, url), {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ code }),
    }).then((answer) => answer.json());
  const second = await rest("/v1/sessions/demo/execute", "max(values)");
  check(`over REST it is the same session → ${second.result}`, second.result === "8", JSON.stringify(second));
  const outside = await rest("/v1/sessions/demo/execute", `open(${JSON.stringify(import.meta.filename)})`);
  check(
    `a file of this machine is not there inside → ${outside.fault?.name}`,
    outside.fault?.name === "FileNotFoundError",
    JSON.stringify(outside),
  );
  const once = await rest("/v1/execute", "values");
  check(
    `a call without a session shares nothing → ${once.fault?.name}`,
    once.fault?.name === "NameError",
    JSON.stringify(once),
  );

  const { leases } = JSON.parse(shipyard(["leases", "list"]).stdout);
  show(
    leases.map((lease) => [
      lease.labels.session ?? "(warm)",
      `${lease.state}, until ${new Date(lease.expiresAt).toISOString()}`,
    ]),
  );
  check(
    "the session has a lease",
    leases.some(({ labels }) => labels.session === "demo"),
    JSON.stringify(leases),
  );
  await client.close();
}

async function killIt({ child, ended }, folder) {
  heading("8. The server is killed");
  const before = processesNaming(folder);
  check(`${before.length} processes belong to it`, before.length > 1, String(before));
  say(`$ kill -9 ${child.pid}`);
  child.kill("SIGKILL");
  await ended;
  // The kernel takes them down; waiting for it is bounded.
  const until = Date.now() + 5_000;
  while (processesNaming(folder).length > 0 && Date.now() < until) await new Promise((next) => setTimeout(next, 20));
  check("no process of any sandbox is left", processesNaming(folder).length === 0, String(processesNaming(folder)));
}

/** Processes that name the folder in their arguments, their environment or their mounts: the server and its sandboxes. */
function processesNaming(folder) {
  const read = (path) => {
    try {
      return readFileSync(path, "latin1");
    } catch {
      return ""; // gone meanwhile, or not ours to see
    }
  };
  const places = ["cmdline", "environ", "mountinfo"];
  return readdirSync("/proc").filter(
    (pid) => /^\d+$/.test(pid) && places.some((place) => read(`/proc/${pid}/${place}`).includes(folder)),
  );
}

function lookAtWhatRan(shipyard) {
  heading("9. What ran, and that nothing is left");
  const swept = shipyard(["leases", "sweep"]);
  const { leases } = JSON.parse(shipyard(["leases", "list", "--all"]).stdout);
  const left = leases.filter(({ endedAt }) => endedAt === null);
  check("every lease has ended, its sandbox seen to be gone", swept.code === 0 && left.length === 0, swept.stderr);
  const entries = shipyard(["audit", "tail", "--session", "demo"])
    .stdout.trim()
    .split("\n")
    .map((line) => JSON.parse(line));
  show(
    entries
      .filter(({ codeBytes }) => codeBytes)
      .map((entry) => [
        entry.type,
        `${entry.codeDigest.slice(0, 19)}…  ${entry.codeBytes} bytes of code, for ${entry.owner}`,
      ]),
  );
  const runs = (type) => entries.filter((entry) => entry.type === type && entry.operation === "execute").length;
  check(
    "each run of the session has its intent and its outcome",
    runs("command.intent") === 4 && runs("command.outcome") === 4,
    JSON.stringify(entries),
  );
  const last = entries.at(-1);
  check(
    `the end of the lease is there: ${last.type}`,
    last.type === "lease.lost" || last.type === "lease.released",
    JSON.stringify(last),
  );
  const report = JSON.parse(shipyard(["audit", "verify"]).stdout);
  check(`${report.entries} entries in ${report.logs.length} logs verify`, report.ok === true, JSON.stringify(report));
}
