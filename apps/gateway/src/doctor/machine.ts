import { dirname } from "node:path";
import type { Check } from "@berth/command-line/doctor";
import { isAttestationError, type Measurement, type Measurer, measureLaunch } from "@berth/spawn-attestation";
import { listedEnvironment, probeContainment } from "@berth/stdio-transport";
import { callerEnvironment, foldersOfNpm } from "../caller-environment.js";
import { desktopPath, findProgram } from "./find-program.js";

/** What the machine brings, whatever the catalog. */
export async function checkMachine(measurer: Measurer, signal: AbortSignal): Promise<Check[]> {
  const path = callerEnvironment(process.env)["PATH"];
  return [
    { name: "this program", status: "ok", message: `runs on node ${process.versions.node} at ${process.execPath}` },
    ...checkNpmFolders(),
    await checkDesktopNode(),
    ...(await checkInterpreter("python3", path, measurer, signal)),
    ...(await checkInterpreter("node", path, measurer, signal)),
    await checkBubblewrap(path),
    await checkContainment(signal),
  ];
}

/** Under npx the PATH is not the one that a client has. */
function checkNpmFolders(): Check[] {
  const folders = foldersOfNpm(process.env);
  if (folders.length === 0) return [];
  const message = `${folders.join(", ")} on PATH is not looked in for servers' programs, since a client seldom has it there`;
  const advice = "give a server's program that lies there with its whole path";
  return [{ name: "path of npm", status: "warn", message, advice }];
}

/** A client that was started from a desktop has a short PATH, on which nvm's or Homebrew's node is not found. */
async function checkDesktopNode(): Promise<Check> {
  const name = "path of desktop programs";
  const found = await findProgram("node", desktopPath);
  if (found !== undefined) return { name, status: "ok", message: `has node at ${found}` };
  return {
    name,
    status: "warn",
    message: `${desktopPath} has no node, so a client started from the desktop may not find berth-gateway or its servers`,
    advice: `write absolute paths in the client's configuration: ${process.execPath} and the path of berth-gateway.js`,
  };
}

async function checkInterpreter(
  name: string,
  path: string | undefined,
  measurer: Measurer,
  signal: AbortSignal,
): Promise<Check[]> {
  const found = await findProgram(name, path);
  if (found === undefined) {
    return [
      { name, status: "warn", message: "is not on PATH", advice: `servers that need it are refused: install ${name}` },
    ];
  }
  try {
    const { interpreter } = await measureProgram(name, measurer, signal);
    if (interpreter?.kind !== "shim") return [{ name, status: "ok", message: `at ${found}` }];
    const real = interpreter.answer ?? interpreter.realPath;
    return [
      {
        name,
        status: "warn",
        message: `${found} is a version manager's stand-in for ${real}`,
        advice: `write ${real} as the command, so that a switch of versions does not change what runs`,
      },
    ];
  } catch (error) {
    signal.throwIfAborted();
    if (!isAttestationError(error)) throw error;
    return [{ name, status: "warn", message: `${found} cannot be measured: ${error.message}`, advice: error.advice }];
  }
}

/** Measures an interpreter by the launch of a file that is certainly there: our own. Nothing is started but a shim's answer. */
function measureProgram(name: string, measurer: Measurer, signal: AbortSignal): Promise<Measurement> {
  const own = new URL(import.meta.url).pathname;
  const description = {
    command: name,
    args: [own],
    env: listedEnvironment(callerEnvironment(process.env)),
    cwd: dirname(own),
    measureTarget: own,
  };
  return measureLaunch(description, { measurer, signal });
}

async function checkBubblewrap(path: string | undefined): Promise<Check> {
  const found = await findProgram("bwrap", path);
  if (found !== undefined) return { name: "bubblewrap", status: "ok", message: `at ${found}` };
  const message = "is not installed; servers run unconfined in this version, with or without it";
  return {
    name: "bubblewrap",
    status: "warn",
    message,
    advice: "apt-get install bubblewrap, for versions that confine",
  };
}

async function checkContainment(signal: AbortSignal): Promise<Check> {
  const { containment, missing } = await probeContainment({ signal });
  const name = "end of servers";
  if (containment === "namespace") {
    return { name, status: "ok", message: "every process of a server ends with the gateway, even when that is killed" };
  }
  const advice = missing.length === 0 ? undefined : missing.join("; ");
  return {
    name,
    status: "warn",
    message: "a server's process group ends with the gateway; processes that leave it may stay",
    advice,
  };
}
