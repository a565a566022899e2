/** Catalog values for the tests: one that uses every key, and single changes of it with what they are. */

const hex = "ab".repeat(32);
const definition = '{"description":"says it again","inputSchema":{"type":"object"},"name":"echo"}';
/** From `printf %s DEFINITION | sha256sum`. */
const definitionHash = "sha256:e1bb3191714001205fd8d65df0654b5af91b4774c8ebf04075aa8460e4c7dd50";

export const fullCatalog: unknown = {
  $schema: "./catalog.schema.json",
  version: 1,
  servers: {
    files: {
      transport: "stdio",
      description: "the files of one folder",
      spawn: {
        command: "node",
        args: ["node_modules/@modelcontextprotocol/server-filesystem/dist/index.js", "/srv/files"],
        env: { TOKEN: "env:FILES_TOKEN", CERT: "file:./cert.pem", MODE: "plain", URL: "literal:file:./dev.db" },
        inheritEnv: ["LC_ALL"],
        cwd: "/srv",
        measureTarget: "node_modules/@modelcontextprotocol/server-filesystem",
        measureIgnore: ["**/*.log"],
        digest: `tree-v1:${hex}`,
        interpreter: {
          path: "/usr/bin/node",
          digest: `sha256:${hex}`,
          parts: [{ path: "/usr/bin/env", digest: `sha256:${hex}` }],
        },
        guard: "recheck",
        allowTargetOutsideArgv: false,
        confinement: "none",
      },
      onBadLine: "quarantine",
      limits: { maxFrameBytes: 1024, maxQueuedBytes: 4096 },
      deadlines: { startMs: 1, listMs: 15000, callMs: 60000, callMaxMs: 86400000 },
      pinnedInitialize: { protocolVersion: "2025-11-25", capabilities: "{}", serverInfo: "{}", instructions: "none" },
      tools: {
        allow: ["echo", "Read_File"],
        deny: ["write_file"],
        pinned: { echo: { digest: definitionHash, definition } },
        pinnedPrompts: {},
        pinnedResourceTemplates: {},
      },
    },
    local_sse: { transport: "http-sse", url: "http://127.0.0.1:8080/sse", tlsFingerprint: "unpinned" },
    remote: {
      transport: "streamable-http",
      url: "https://example.com/mcp",
      tlsFingerprint: ["SHA256:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=", `SHA256:${"A".repeat(43)}`],
    },
  },
};

type Change = { readonly name: string; readonly path: readonly string[]; readonly value: unknown };

/** Changes of `fullCatalog` after which it is still a catalog. */
export const validChanges: readonly Change[] = [
  { name: "no servers at all", path: ["servers"], value: {} },
  { name: "no $schema", path: ["$schema"], value: undefined },
  {
    name: "a file digest in place of a folder's",
    path: ["servers", "files", "spawn", "digest"],
    value: `sha256:${hex}`,
  },
  { name: "no arguments", path: ["servers", "files", "spawn", "args"], value: undefined },
  { name: "empty lists", path: ["servers", "files", "spawn", "args"], value: [] },
  {
    name: "a name with one underscore",
    path: ["servers", "a_b-C9"],
    value: { transport: "stdio", spawn: { command: "x" } },
  },
  { name: "an address on IPv6 loopback", path: ["servers", "local_sse", "url"], value: "http://[::1]:80/x" },
  { name: "one fingerprint", path: ["servers", "remote", "tlsFingerprint"], value: `SHA256:${"A".repeat(43)}=` },
  { name: "a variable with an empty value", path: ["servers", "files", "spawn", "env", "TOKEN"], value: "" },
  {
    name: "a tool called constructor",
    path: ["servers", "files", "tools", "allow"],
    value: ["constructor", "__proto__"],
  },
  { name: "the least deadline", path: ["servers", "files", "deadlines", "startMs"], value: 1 },
  { name: "a whole number with a point", path: ["servers", "files", "deadlines", "startMs"], value: 5.0 },
];

/** Changes after which it is none, each with the path that the report must name. */
export const invalidChanges: readonly (Change & { readonly at: string })[] = [
  { name: "another version", path: ["version"], value: 2, at: "version" },
  { name: "no version", path: ["version"], value: undefined, at: "" },
  { name: "no servers key", path: ["servers"], value: undefined, at: "" },
  { name: "servers as a list", path: ["servers"], value: [], at: "servers" },
  { name: "an unknown key at the top", path: ["serverz"], value: {}, at: "serverz" },
  {
    name: "an unknown key in a server",
    path: ["servers", "files", "command"],
    value: "x",
    at: "servers.files.command",
  },
  {
    name: "an unknown key in spawn",
    path: ["servers", "files", "spawn", "binary_digest"],
    value: null,
    at: "servers.files.spawn.binary_digest",
  },
  {
    name: "an unknown key in tools",
    path: ["servers", "files", "tools", "allowed"],
    value: [],
    at: "servers.files.tools.allowed",
  },
  {
    name: "attestation in the catalog",
    path: ["attestation"],
    value: { allowUnmeasuredSpawn: true },
    at: "attestation",
  },
  { name: "no transport", path: ["servers", "files", "transport"], value: undefined, at: "servers.files" },
  {
    name: "an unknown transport",
    path: ["servers", "files", "transport"],
    value: "http",
    at: "servers.files.transport",
  },
  {
    name: "a transport in other case",
    path: ["servers", "files", "transport"],
    value: "STDIO",
    at: "servers.files.transport",
  },
  { name: "stdio without spawn", path: ["servers", "files", "spawn"], value: undefined, at: "servers.files" },
  {
    name: "stdio with a url",
    path: ["servers", "files", "url"],
    value: "https://example.com/",
    at: "servers.files.url",
  },
  {
    name: "stdio with a fingerprint",
    path: ["servers", "files", "tlsFingerprint"],
    value: `SHA256:${"A".repeat(43)}`,
    at: "servers.files.tlsFingerprint",
  },
  { name: "network without url", path: ["servers", "remote", "url"], value: undefined, at: "servers.remote" },
  {
    name: "network without fingerprint",
    path: ["servers", "remote", "tlsFingerprint"],
    value: undefined,
    at: "servers.remote",
  },
  {
    name: "network with spawn",
    path: ["servers", "remote", "spawn"],
    value: { command: "x" },
    at: "servers.remote.spawn",
  },
  {
    name: "unpinned away from loopback",
    path: ["servers", "remote", "tlsFingerprint"],
    value: "unpinned",
    at: "servers.remote.url",
  },
  {
    name: "unpinned with a name that only begins like loopback",
    path: ["servers", "local_sse", "url"],
    value: "http://localhost.example.com/",
    at: "servers.local_sse.url",
  },
  {
    name: "unpinned with loopback as the user part",
    path: ["servers", "local_sse", "url"],
    value: "http://127.0.0.1@example.com/",
    at: "servers.local_sse.url",
  },
  {
    name: "unpinned in a list",
    path: ["servers", "remote", "tlsFingerprint"],
    value: ["unpinned"],
    at: "servers.remote.tlsFingerprint[0]",
  },
  {
    name: "no fingerprint in the list",
    path: ["servers", "remote", "tlsFingerprint"],
    value: [],
    at: "servers.remote.tlsFingerprint",
  },
  {
    name: "a short fingerprint",
    path: ["servers", "remote", "tlsFingerprint"],
    value: "SHA256:abc",
    at: "servers.remote.tlsFingerprint",
  },
  {
    name: "an empty command",
    path: ["servers", "files", "spawn", "command"],
    value: "",
    at: "servers.files.spawn.command",
  },
  { name: "no command", path: ["servers", "files", "spawn", "command"], value: undefined, at: "servers.files.spawn" },
  {
    name: "arguments as one text",
    path: ["servers", "files", "spawn", "args"],
    value: "a b",
    at: "servers.files.spawn.args",
  },
  {
    name: "a number as argument",
    path: ["servers", "files", "spawn", "args"],
    value: ["a", 8080],
    at: "servers.files.spawn.args[1]",
  },
  {
    name: "NUL in an argument",
    path: ["servers", "files", "spawn", "args"],
    value: ["a\u0000b"],
    at: "servers.files.spawn.args[0]",
  },
  {
    name: "a number as variable",
    path: ["servers", "files", "spawn", "env", "TOKEN"],
    value: 8080,
    at: "servers.files.spawn.env.TOKEN",
  },
  {
    name: "a reference without a name",
    path: ["servers", "files", "spawn", "env", "TOKEN"],
    value: "env:",
    at: "servers.files.spawn.env.TOKEN",
  },
  {
    name: "a reference to no variable's name",
    path: ["servers", "files", "spawn", "env", "TOKEN"],
    value: "env:MY-TOKEN",
    at: "servers.files.spawn.env.TOKEN",
  },
  {
    name: "a file reference without a path",
    path: ["servers", "files", "spawn", "env", "TOKEN"],
    value: "file:",
    at: "servers.files.spawn.env.TOKEN",
  },
  {
    name: "a variable's name with =",
    path: ["servers", "files", "spawn", "env", "A=B"],
    value: "x",
    at: 'servers.files.spawn.env."A=B"',
  },
  {
    name: "a name twice in inheritEnv",
    path: ["servers", "files", "spawn", "inheritEnv"],
    value: ["A", "A"],
    at: "servers.files.spawn.inheritEnv[1]",
  },
  {
    name: "an upper-case digest",
    path: ["servers", "files", "spawn", "digest"],
    value: `sha256:${"AB".repeat(32)}`,
    at: "servers.files.spawn.digest",
  },
  {
    name: "a digest of another kind",
    path: ["servers", "files", "spawn", "digest"],
    value: `md5:${hex}`,
    at: "servers.files.spawn.digest",
  },
  {
    name: "null for not pinned",
    path: ["servers", "files", "spawn", "digest"],
    value: null,
    at: "servers.files.spawn.digest",
  },
  {
    name: "an interpreter without digest",
    path: ["servers", "files", "spawn", "interpreter"],
    value: { path: "/x" },
    at: "servers.files.spawn.interpreter",
  },
  {
    name: "an unknown guard",
    path: ["servers", "files", "spawn", "guard"],
    value: "strict",
    at: "servers.files.spawn.guard",
  },
  {
    name: "a confinement that does not exist",
    path: ["servers", "files", "spawn", "confinement"],
    value: "bubblewrap",
    at: "servers.files.spawn.confinement",
  },
  {
    name: "a flag as text",
    path: ["servers", "files", "spawn", "allowTargetOutsideArgv"],
    value: "true",
    at: "servers.files.spawn.allowTargetOutsideArgv",
  },
  {
    name: "an unknown onBadLine",
    path: ["servers", "files", "onBadLine"],
    value: "ignore",
    at: "servers.files.onBadLine",
  },
  {
    name: "a limit under its range",
    path: ["servers", "files", "limits", "maxFrameBytes"],
    value: 1023,
    at: "servers.files.limits.maxFrameBytes",
  },
  {
    name: "a limit over its range",
    path: ["servers", "files", "limits", "maxFrameBytes"],
    value: 67108865,
    at: "servers.files.limits.maxFrameBytes",
  },
  {
    name: "a broken number of milliseconds",
    path: ["servers", "files", "deadlines", "callMs"],
    value: 1.5,
    at: "servers.files.deadlines.callMs",
  },
  {
    name: "a pin without its definition",
    path: ["servers", "files", "tools", "pinned"],
    value: { echo: { digest: `sha256:${hex}` } },
    at: "servers.files.tools.pinned.echo",
  },
  {
    name: "a name with two underscores",
    path: ["servers", "a__b"],
    value: { transport: "stdio", spawn: { command: "x" } },
    at: "servers.a__b",
  },
  {
    name: "a name that ends in an underscore",
    path: ["servers", "a_"],
    value: { transport: "stdio", spawn: { command: "x" } },
    at: "servers.a_",
  },
  {
    name: "a name with a dot",
    path: ["servers", "a.b"],
    value: { transport: "stdio", spawn: { command: "x" } },
    at: 'servers."a.b"',
  },
  {
    name: "an empty name",
    path: ["servers", ""],
    value: { transport: "stdio", spawn: { command: "x" } },
    at: 'servers.""',
  },
  {
    name: "a name of 65 characters",
    path: ["servers", "n".repeat(65)],
    value: { transport: "stdio", spawn: { command: "x" } },
    at: `servers.${"n".repeat(65)}`,
  },
  { name: "a server that is a text", path: ["servers", "x"], value: "node", at: "servers.x" },
];

/** A copy of `value` with the member at `path` set, or taken out when `member` is undefined. */
export function changed(value: unknown, path: readonly string[], member: unknown): unknown {
  const [step, ...rest] = path;
  if (step === undefined) return member;
  const entries = typeof value === "object" && value !== null ? Object.entries(value) : [];
  const before = entries.find(([key]) => key === step)?.[1];
  const after = changed(before, rest, member);
  if (before !== undefined)
    return Object.fromEntries(
      entries.flatMap(([key, old]) => (key !== step ? [[key, old]] : after === undefined ? [] : [[key, after]])),
    );
  return Object.fromEntries(after === undefined ? entries : [...entries, [step, after]]);
}
