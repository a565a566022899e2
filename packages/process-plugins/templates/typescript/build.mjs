// Makes dist/ from src/, and bin/node-path, which names the Node that runs the plugin. Needs Node 22.13 and nothing else.
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import * as modules from "node:module";
import { basename, join } from "node:path";

if (modules.stripTypeScriptTypes === undefined) {
  console.error(`build.mjs needs Node 22.13 or later, and this is ${process.version}`);
  process.exit(1);
}
mkdirSync("dist", { recursive: true });
for (const name of readdirSync("src")) {
  const text = modules.stripTypeScriptTypes(readFileSync(join("src", name), "utf8"));
  writeFileSync(join("dist", `${basename(name, ".ts")}.js`), text);
}
writeFileSync(join("bin", "node-path"), `${process.execPath}\n`);
