#!/usr/bin/env node
// Checked before anything else is loaded, so that an older Node gets a sentence and not a syntax error.
const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
if (!((major === 22 && minor >= 18) || (major === 24 && minor >= 11) || major === 25 || major >= 26)) {
  console.error(`berth-plugin-host needs Node 22.18, 24.11 or 26 and newer; this is ${process.versions.node}`);
  process.exit(2);
}
const { existsSync } = await import("node:fs");
const entry = new URL("../dist/main.js", import.meta.url);
if (!existsSync(entry)) {
  console.error("berth-plugin-host is not built: run `npm run build` first");
  process.exit(2);
}
const { main } = await import(entry.href);
await main(process.argv);
