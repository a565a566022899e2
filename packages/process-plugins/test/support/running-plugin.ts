import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach } from "vitest";
import { confinedDataFolder, type PluginProcess, type PluginProcessOptions } from "../../src/confine/plugin-process.js";
import { startConfined } from "../../src/confine/start-confined.js";
import { startUnconfined } from "../../src/confine/start-unconfined.js";
import { inspectPlugin } from "../../src/tree/inspect-plugin.js";
import { describePlugin } from "../../src/tree/plugin-launch.js";
import { emptyFolder } from "./plugin-folder.js";

export type Way = "confined" | "unconfined";
export type Changes = Partial<Omit<PluginProcessOptions, "launch" | "plugin">>;

const running: PluginProcess[] = [];
afterEach(async () => {
  await Promise.all(running.splice(0).map((process) => process.kill()));
});

/** Inspects the plugin in a folder and starts it as an instance would. Killed after the test. */
export async function startPlugin(
  folder: string,
  way: Way = "confined",
  changes: Changes = {},
): Promise<PluginProcess> {
  const plugin = await inspectPlugin(folder);
  const dataFolder = changes.dataFolder ?? join(emptyFolder(), "data");
  const seen = way === "confined" ? confinedDataFolder : dataFolder;
  const { command, args, env } = describePlugin(plugin, seen);
  const launch = { file: command, argv0: command, args, env, cwd: plugin.root };
  const start = way === "confined" ? startConfined : startUnconfined;
  const process = await start({ launch, plugin, ...changes, dataFolder });
  running.push(process);
  return process;
}

/** What it writes to both outputs until it has ended. */
export async function outputOf({ stdout, stderr }: PluginProcess): Promise<{ out: string; err: string }> {
  const [out, err] = await Promise.all(
    [stdout, stderr].map(async (stream) => {
      const chunks: Buffer[] = [];
      for await (const chunk of stream) chunks.push(Buffer.from(chunk));
      return Buffer.concat(chunks).toString();
    }),
  );
  return { out: out ?? "", err: err ?? "" };
}

/** The first line that it writes. */
export async function firstLine({ stdout }: PluginProcess): Promise<string> {
  let text = "";
  for await (const chunk of stdout.iterator({ destroyOnReturn: false })) {
    text += String(chunk);
    if (text.includes("\n")) break;
  }
  return text.split("\n")[0] ?? "";
}

/** How many processes of this machine have this text in their command line. */
export function processesWith(text: string): number {
  return readdirSync("/proc").filter((name) => /^\d+$/.test(name) && commandLine(name).includes(text)).length;
}

function commandLine(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8");
  } catch {
    return ""; // it has ended
  }
}
