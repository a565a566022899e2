import { fileURLToPath } from "node:url";
import { readArguments } from "../reading/read-options.js";
import { createReader } from "../reading/read-values.js";
import { thisHost } from "../start/host.js";
import { refuseHere } from "../start/refuse-here.js";
import type { ConfineCommand, LaunchCommand, LaunchPolicy } from "./launch-policy.js";
import { launchText } from "./launch-text.js";

/** What the kernel takes as one argument (MAX_ARG_STRLEN), its NUL included. */
const maxTextBytes = 131_071;

/**
 * Turns a command into one that runs it in a sandbox: a launcher of this package, which opens the sandbox and is a pipe to it
 * (README § Launcher). Nothing is started or made. What only a start can tell is told by the launcher: it exits with 126.
 * @throws {ConfinementError} `POLICY_INVALID`, `SANDBOX_OPTION_INVALID`, `PLATFORM_UNSUPPORTED`, `CONFINEMENT_UNAVAILABLE`.
 */
export const confine: ConfineCommand = Object.assign(confineHere, { networks: ["none"] as const });

async function confineHere(argv: readonly string[], policy: LaunchPolicy): Promise<LaunchCommand> {
  const text = checkedText(policy);
  checkCommand(argv);
  // The launcher has a main thread of its own, whatever this one is.
  refuseHere({ ...thisHost(), isMainThread: true });
  // Beside the built entry.
  const launcher = fileURLToPath(new URL("program.js", import.meta.url));
  return {
    argv: [process.execPath, launcher, text, ...argv],
    confinement: "bubblewrap",
    release: async () => {},
  };
}

function checkedText(policy: LaunchPolicy): string {
  const reader = createReader("POLICY_INVALID");
  reader.object("policy", policy);
  reader.refuseUnknown("policy", policy, ["name", "readable", "writable", "network", "cwd"]);
  reader.choice("network", policy.network, ["none"]);
  reader.text("name", policy.name, 1_000);
  reader.path("cwd", policy.cwd);
  for (const member of ["readable", "writable"] as const) {
    const paths: unknown = policy[member];
    if (!Array.isArray(paths)) return reader.fail(member, "an array of absolute paths", paths);
    paths.forEach((path: unknown, index) => void reader.path(`${member}[${index}]`, path));
  }
  const text = launchText(policy);
  const bytes = Buffer.byteLength(text);
  if (bytes > maxTextBytes) return reader.fail("policy", `at most ${maxTextBytes} bytes as JSON`, bytes);
  return text;
}

function checkCommand(argv: readonly string[]): void {
  const reader = createReader("SANDBOX_OPTION_INVALID");
  const [file, ...args] = argv;
  reader.path("argv[0]", file);
  readArguments(reader, args);
}
