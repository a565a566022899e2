#!/usr/bin/env node
// Written so that an old Node parses it and can say what is wrong.
const [major, minor] = process.versions.node.split(".").map(Number);
if (major < 20 || (major === 20 && minor < 19)) {
  console.error(`berth-audit needs Node 20.19 or later and this is ${process.versions.node}`);
  process.exit(2);
}

const { existsSync, readFileSync } = await import("node:fs");
const cli = new URL("../dist/cli.js", import.meta.url);
if (!existsSync(cli)) {
  console.error("berth-audit is not built: run `npm run build`");
  process.exit(2);
}

// A reader that has seen enough (`| head`) ends the printing, not the verifying: the exit status still says what was found.
process.stdout.on("error", (error) => {
  if (error.code === "EPIPE") return;
  console.error(`berth-audit: the report cannot be written: ${error.message}`);
  process.exit(1);
});

const { version } = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8"));
const { runCommand } = await import(cli.href);
process.exitCode = await runCommand(process.argv.slice(2), {
  out: (text) => process.stdout.write(text),
  error: (text) => process.stderr.write(text),
  version,
});
