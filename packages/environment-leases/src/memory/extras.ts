import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { basename } from "node:path";
import type {
  ApprovedWheel,
  CommandResult,
  InstallOptions,
  ResourceRequest,
  ResourceResponse,
} from "../environment.js";
import { LeaseError } from "../errors.js";
import { wheelFaults } from "../guest/packages/wheel-faults.js";
import { checkRequest } from "../guest/relay/check-request.js";
import type { ProfileTerms } from "../profile.js";

/** Checks what a provider has to check, and installs nothing. */
export async function installWheels(
  { policy }: ProfileTerms,
  wheels: readonly ApprovedWheel[],
  { system = false, signal }: InstallOptions,
): Promise<CommandResult> {
  signal?.throwIfAborted();
  const isGranted = system ? policy.packages === "system" : policy.packages !== "disabled";
  if (!isGranted) throw new LeaseError("PACKAGES_NOT_GRANTED", `the profile grants packages: ${policy.packages}`);
  const faults = wheelFaults(wheels);
  if (faults.length > 0) throw new LeaseError("WHEEL_REFUSED", "the wheels cannot be read", { faults });
  for (const { path, sha256 } of wheels) {
    const bytes = await readFile(path).catch((cause: unknown) => {
      throw new LeaseError("WHEEL_REFUSED", `${basename(path)} cannot be read`, { cause });
    });
    const isSame = createHash("sha256").update(bytes).digest("hex") === sha256.toLowerCase();
    if (!isSame) throw new LeaseError("WHEEL_REFUSED", `${basename(path)} is not what was approved`);
  }
  const stdout = Buffer.from(`installed ${wheels.length}\n`);
  const none = { stderr: new Uint8Array(), stderrBytes: 0, signal: undefined, durationMs: 0 };
  return { exitCode: 0, stdout, stdoutBytes: stdout.length, ...none };
}

/** Checks what a provider has to check; answers with the request. */
export function relayRequest({ policy }: ProfileTerms, request: ResourceRequest): ResourceResponse {
  request.signal?.throwIfAborted();
  if (!policy.exposeResources) throw new LeaseError("EXPOSURE_NOT_GRANTED", "the profile exposes nothing");
  checkRequest(request, policy.exposedPorts);
  const { path, body = Buffer.from(path), contentType = "text/plain" } = request;
  return { status: 200, headers: [["content-type", contentType]], body };
}
