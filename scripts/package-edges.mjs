// The dependency table of the workspace: what each package may depend on. A new edge needs its reason in
// ARCHITECTURE.md, in the same change as a new entry here.

/** Ours that each package may depend on, and the npm packages it may need at run time. */
export const allowedEdges = {
  "@berth/jsonrpc-framing": { ours: [], npm: [] },
  "@berth/stdio-transport": { ours: ["jsonrpc-framing"], npm: [] },
  "@berth/spawn-attestation": { ours: [], npm: [] },
  "@berth/audit-chain": { ours: [], npm: [] },
  "@berth/mcp-server": { ours: ["jsonrpc-framing", "stdio-transport"], npm: ["zod"] },
  "@berth/mcp-relay": {
    ours: ["mcp-server", "stdio-transport", "jsonrpc-framing"],
    npm: ["zod", "jsonc-parser", "smol-toml"],
  },
  "@berth/process-confinement": { ours: [], npm: [] },
  "@berth/environment-leases": { ours: ["process-confinement"], npm: ["zod"] },
  "@berth/code-sessions": { ours: ["environment-leases", "stdio-transport", "jsonrpc-framing"], npm: ["zod"] },
  "@berth/venv-host": { ours: ["stdio-transport", "jsonrpc-framing"], npm: ["zod", "yaml"] },
  "@berth/process-plugins": {
    ours: ["stdio-transport", "jsonrpc-framing", "spawn-attestation", "process-confinement"],
    npm: ["zod"],
  },
  "@berth/state-folder": { ours: [], npm: [] },
  "@berth/command-line": { ours: [], npm: ["commander", "pino", "pino-pretty", "yaml"] },
  "berth-gateway": {
    ours: [
      "command-line",
      "state-folder",
      "mcp-relay",
      "mcp-server",
      "stdio-transport",
      "spawn-attestation",
      "process-confinement",
      "audit-chain",
      "venv-host",
    ],
    npm: ["zod", "@clack/prompts"],
  },
  "berth-shipyard": {
    ours: [
      "command-line",
      "state-folder",
      "mcp-server",
      "stdio-transport",
      "environment-leases",
      "code-sessions",
      "process-confinement",
      "audit-chain",
    ],
    npm: ["zod", "hono", "@hono/node-server"],
  },
  "berth-plugin-host": {
    ours: [
      "command-line",
      "state-folder",
      "venv-host",
      "process-plugins",
      "mcp-relay",
      "mcp-server",
      "stdio-transport",
      "jsonrpc-framing",
      "process-confinement",
      "audit-chain",
    ],
    npm: [],
  },
};

/** Faults in one manifest against the table, as lines for a person. */
export function edgeFaults(manifest) {
  const allowed = allowedEdges[manifest.name];
  if (allowed === undefined) return [`${manifest.name} is not in scripts/package-edges.mjs`];
  const permitted = new Set([...allowed.ours.map((name) => `@berth/${name}`), ...allowed.npm]);
  return Object.keys(manifest.dependencies ?? {})
    .filter((name) => !permitted.has(name))
    .map((name) => `${manifest.name} depends on ${name}, which the table of edges does not allow`);
}
