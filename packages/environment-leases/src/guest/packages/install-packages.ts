import { join } from "node:path";
import type { ApprovedWheel, CommandResult, InstallOptions } from "../../environment.js";
import { LeaseError } from "../../errors.js";
import type { GuestSurroundings } from "../guest-environment.js";
import { runCommand } from "../run-command.js";
import { stageWheels } from "./stage-wheels.js";

/**
 * Installs wheels from files alone into the environment's own folder of packages, with the pip of its interpreter.
 * @throws {LeaseError} `PACKAGES_NOT_GRANTED`, `WHEEL_REFUSED`, `COMMAND_NOT_STARTED` when there is no pip.
 */
export async function installPackages(
  surroundings: GuestSurroundings,
  wheels: readonly ApprovedWheel[],
  { system = false, signal }: InstallOptions,
): Promise<CommandResult> {
  signal?.throwIfAborted();
  const { profile, places } = surroundings;
  const granted = profile.policy.packages;
  if (places.wheels === undefined || granted === "disabled" || (system && granted !== "system")) {
    throw new LeaseError("PACKAGES_NOT_GRANTED", `profile ${profile.name} grants packages: ${granted}`);
  }
  const { inside, outside } = places.wheels;
  await using staged = await stageWheels(outside, wheels, signal);
  const own = join(places.workspace, ".berth");
  const temporary = join(own, "tmp");
  const run = (argv: readonly string[], env: Readonly<Record<string, string>>): Promise<CommandResult> =>
    runCommand(surroundings, {
      command: { argv, env, cwd: places.workspace },
      stdin: new Uint8Array(),
      timeoutMs: profile.policy.commandTimeoutMs,
      signal,
    });
  await run(["mkdir", "-p", join(own, "packages"), temporary], {});
  const files = staged.names.map((name) => join(inside, name));
  const argv = [places.interpreter, ...pipInstall, "--target", join(own, "packages"), ...files];
  // /tmp is small; what is unpacked there is moved to the workspace anyway.
  const result = await run(argv, { PIP_CONFIG_FILE: "/dev/null", TMPDIR: temporary });
  if (result.exitCode !== 0 && Buffer.from(result.stderr).includes("No module named pip"))
    throw withoutPip(places.interpreter);
  return result;
}

const pipInstall = [
  ...["-I", "-m", "pip", "install", "--no-index", "--no-deps", "--upgrade"],
  ...["--no-cache-dir", "--no-input", "--disable-pip-version-check"],
] as const;

function withoutPip(interpreter: string): LeaseError {
  return new LeaseError("COMMAND_NOT_STARTED", `${interpreter} has no pip`, {
    cure: `run ${interpreter} -m ensurepip on the host, or apt-get install python3-pip`,
  });
}
