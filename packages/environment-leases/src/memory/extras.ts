import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { basename } from "node:path";
import type {
  ApprovedWheel,
  CommandResult,
  InstallOptions,
  ResourceRequest,
  ResourceResponse,
  TerminalChannel,
} from "../environment.js";
import { LeaseError } from "../errors.js";
import { wheelFaults } from "../guest/packages/wheel-faults.js";
import { checkRequest } from "../guest/relay/check-request.js";
import type { ProfileTerms } from "../profile.js";
import type { MemoryProcess } from "./process.js";

const maxWriteBytes = 65_536;

/** A terminal whose program gives back what is written. */
export function openMemoryTerminal({ stream, signal, exited }: MemoryProcess): TerminalChannel {
  const close = async (): Promise<void> => {
    signal("SIGKILL");
    await exited;
  };
  return {
    async read({ maxBytes = 65_536, signal: until } = {}) {
      for (;;) {
        until?.throwIfAborted();
        const chunk: unknown = stream.read(Math.min(maxBytes, stream.readableLength)) ?? stream.read();
        if (chunk instanceof Uint8Array) return chunk;
        if (stream.readableEnded || stream.destroyed) return new Uint8Array();
        await readableOrEnd(stream, until);
      }
    },
    async write(bytes, { signal: until } = {}) {
      until?.throwIfAborted();
      if (bytes.length > maxWriteBytes) {
        throw new LeaseError("INPUT_TOO_LARGE", `${bytes.length} bytes, at most ${maxWriteBytes} a call`);
      }
      stream.write(bytes);
    },
    resize(columns, rows) {
      for (const size of [columns, rows]) {
        if (!Number.isInteger(size) || size < 1 || size > 1_000) {
          throw new LeaseError("OPTION_INVALID", `columns and rows have to be 1 to 1000, were ${columns} and ${rows}`);
        }
      }
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}

function readableOrEnd(stream: MemoryProcess["stream"], signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const events = ["readable", "end", "close"];
    const leave = (): void => {
      for (const event of events) stream.off(event, done);
      signal?.removeEventListener("abort", abort);
    };
    const done = (): void => {
      leave();
      resolve();
    };
    const abort = (): void => {
      leave();
      reject(signal?.reason);
    };
    for (const event of events) stream.on(event, done);
    signal?.addEventListener("abort", abort, { once: true });
  });
}

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
