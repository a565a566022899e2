import type { CatalogServer } from "../catalog.js";
import { readCatalog } from "../catalog-read.js";
import { readEntryEnvironment } from "./entry-environment.js";
import { launchAdvice } from "./launch-advice.js";
import type { ClientEntry, ImportedServer, ImportNote } from "./report.js";
import { catalogName } from "./server-name.js";

type Members = Readonly<Record<string, unknown>>;

/** Keys with a place in the catalog, or about which nothing needs to be said. */
const usedKeys = new Set([
  ...["command", "args", "env", "env_vars", "cwd", "type", "transport", "disabled", "enabled", "description"],
  ...["includeTools", "enabled_tools", "excludeTools", "disabled_tools", "startup_timeout_sec", "tool_timeout_sec"],
  ...["url", "serverUrl", "httpUrl", "name", "id", "gallery", "version", "source", "icon"],
]);

/** What to do instead, for keys that have no place in the catalog. */
const insteadOf: Readonly<Record<string, string>> = {
  headers: "they are for network servers and often hold secrets",
  envFile: "write its variables under env, as env:NAME or file:PATH",
  autoApprove: "approving calls is the client's part",
  alwaysAllow: "approving calls is the client's part",
  trust: "approving calls is the client's part",
  timeout: "clients differ in its unit: set deadlines.callMs, in milliseconds",
};

/** Turns one entry of a client's file into a catalog entry, or says why it cannot. */
export function readClientEntry(entry: ClientEntry, taken: ReadonlySet<string>): ImportedServer {
  const name = catalogName(entry.name, taken);
  const notes: ImportNote[] = [];
  if (name !== entry.name) notes.push({ code: "RENAMED", message: `"${entry.name}" is called ${name} in the catalog` });
  const server = isMembers(entry.value) ? readMembers(flatCommand(entry.value), notes) : entry.value;
  return {
    sourceName: entry.name,
    name,
    line: entry.line,
    server: server === undefined ? undefined : asServer(name, server, notes),
    notes,
  };
}

/** Checks a candidate with the catalog's own reader, so that whatever is imported can be read again. */
export function asServer(name: string, candidate: unknown, notes: ImportNote[]): CatalogServer | undefined {
  const reading = readCatalog(JSON.stringify({ version: 1, servers: { [name]: candidate } }));
  if (reading.ok) return reading.catalog.servers.get(name);
  for (const problem of reading.problems) {
    const path = problem.path.slice(`servers.${name}`.length).replace(/^\.(?:spawn\.)?/u, "");
    notes.push({ code: "NOT_VALID", message: `${path} ${problem.message}`.trim() });
  }
  return undefined;
}

function readMembers(members: Members, notes: ImportNote[]): unknown {
  if (members["disabled"] === true || members["enabled"] === false) {
    notes.push({ code: "SWITCHED_OFF", message: "is switched off in the client's file, so it is not taken" });
    return undefined;
  }
  for (const key of Object.keys(members).filter((key) => !usedKeys.has(key))) {
    const instead = Object.hasOwn(insteadOf, key) ? `: ${insteadOf[key]}` : "";
    notes.push({ code: "KEY_NOT_TAKEN", message: `${key} is not taken${instead}` });
  }
  const url = members["url"] ?? members["serverUrl"] ?? members["httpUrl"];
  const server = url === undefined ? stdioEntry(members, notes) : networkEntry(url, members, notes);
  return server === undefined ? undefined : withoutUndefined({ ...server, ...sharedTerms(members) });
}

function stdioEntry(members: Members, notes: ImportNote[]): Members | undefined {
  const { command, args, cwd, env, env_vars: inheritEnv } = members;
  if (command === undefined) {
    notes.push({ code: "NOT_VALID", message: "has neither a command nor a url, so there is nothing to start or call" });
    return undefined;
  }
  const list = Array.isArray(args) ? args.filter((item) => typeof item === "string") : [];
  if (typeof command === "string") notes.push(...launchNotes(command, list));
  return {
    transport: "stdio",
    spawn: withoutUndefined({ command, args, cwd, env: readEntryEnvironment(env, notes), inheritEnv }),
  };
}

function launchNotes(command: string, args: readonly string[]): ImportNote[] {
  const notes: ImportNote[] = [];
  const advice = launchAdvice(command, args);
  if (advice !== undefined) notes.push({ code: "NO_TARGET_ON_DISK", message: advice });
  if (args.length === 0 && /\s-/u.test(command)) {
    notes.push({ code: "PLACEHOLDER", message: "command holds arguments: write them under args, one by one" });
  }
  if ([command, ...args].some((text) => /\$\{[^}]+\}/u.test(text))) {
    notes.push({
      code: "PLACEHOLDER",
      message: "command or args hold a placeholder that the gateway does not fill in",
    });
  }
  if (args.some((text) => /^--?(?:api[-_]?key|token|secret|password)\b/iu.test(text))) {
    notes.push({
      code: "LITERAL_SECRET",
      message: "an argument looks like a secret: pass it under env if the server allows",
    });
  }
  return notes;
}

function networkEntry(url: unknown, members: Members, notes: ImportNote[]): Members | undefined {
  const kind = members["type"] ?? members["transport"];
  const isLoopback = typeof url === "string" && /^https?:\/\/(?:127\.|\[::1\]|localhost\b)/u.test(url);
  notes.push({
    code: "NETWORK_SERVER",
    message: isLoopback
      ? "is a network server: kept in the catalog, but only stdio servers are served by this version"
      : "is a network server: its entry needs tlsFingerprint, which the client's file does not have, so it is not taken",
  });
  if (!isLoopback) return undefined;
  return {
    transport: kind === "sse" || kind === "http-sse" ? "http-sse" : "streamable-http",
    url,
    tlsFingerprint: "unpinned",
  };
}

function sharedTerms(members: Members): Members {
  const allow = members["includeTools"] ?? members["enabled_tools"];
  const deny = members["excludeTools"] ?? members["disabled_tools"];
  const startMs = inMilliseconds(members["startup_timeout_sec"]);
  const callMs = inMilliseconds(members["tool_timeout_sec"]);
  return {
    description: typeof members["description"] === "string" ? members["description"].slice(0, 2000) : undefined,
    deadlines: startMs === undefined && callMs === undefined ? undefined : withoutUndefined({ startMs, callMs }),
    tools: allow === undefined && deny === undefined ? undefined : withoutUndefined({ allow, deny }),
  };
}

function inMilliseconds(seconds: unknown): unknown {
  return typeof seconds === "number" ? Math.round(seconds * 1000) : seconds;
}

/** Zed writes `command: {path, args, env}`. */
function flatCommand(members: Members): Members {
  const { command } = members;
  if (!isMembers(command)) return members;
  const { path, args, env } = command;
  return withoutUndefined({ ...members, command: path, args: args ?? members["args"], env: env ?? members["env"] });
}

function withoutUndefined(members: Members): Members {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined));
}

function isMembers(value: unknown): value is Members {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
