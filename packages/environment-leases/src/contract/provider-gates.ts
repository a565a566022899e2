import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { DisposableEnvironment, ResourceRequest, TerminalChannel } from "../environment.js";
import type { ResourcePolicy } from "../policy.js";
import type { ProviderCheck, ProviderTrial } from "./provider-contract.js";
import { longMs, profileOf, readUntil, refused, rejectsWith, soon } from "./provider-subject.js";

const port = 18_080;

const createWith = (
  trial: ProviderTrial,
  grants: { readonly policy?: ResourcePolicy; readonly shell?: boolean },
): Promise<DisposableEnvironment> =>
  trial.provider.create(trial.name(), profileOf(trial, grants), { deadlineMs: longMs });

/** What a profile has to grant. */
export const gateChecks: Readonly<Record<string, ProviderCheck>> = {
  async "opens no terminal without a grant, and none before it was installed"(trial) {
    const { environment } = await trial.create();
    await refused(environment.openTerminal(), ["SHELL_NOT_GRANTED"], "no grant");
    await refused(environment.installShell(), ["SHELL_NOT_GRANTED"], "an installation without grant");
    if (!trial.provider.capabilities.shell) return;
    const granted = await createWith(trial, { shell: true });
    await refused(granted.openTerminal(), ["SHELL_NOT_GRANTED"], "not installed yet");
    await granted.installShell();
    await granted.installShell();
    await (await soon(granted.openTerminal(), "a terminal")).close();
  },
  async "carries a terminal's bytes in bounded chunks"(trial) {
    if (!trial.provider.capabilities.shell) return;
    const environment = await createWith(trial, { shell: true });
    await environment.installShell();
    const terminal = await soon(environment.openTerminal(), "a terminal");
    await terminal.write(Buffer.from("echo berth-$((40+2))\n"));
    await soon(readUntil(chunksOf(terminal, 16), "berth-"), "its answer");
    await refused(terminal.write(Buffer.alloc(65_537)), ["INPUT_TOO_LARGE"], "too much at once");
    terminal.resize(120, 40);
    for (const [columns, rows] of [
      [0, 1],
      [1, 1_001],
      [1.5, 2],
    ] as const) {
      assert.throws(() => terminal.resize(columns, rows), `${columns} × ${rows}`);
    }
    await Promise.all([terminal.close(), terminal.close()]);
    assert.equal((await soon(lastOf(terminal), "its end")).length, 0);
  },
  async "ends a wait for a terminal's bytes with the signal's reason"(trial) {
    if (!trial.provider.capabilities.shell) return;
    const environment = await createWith(trial, { shell: true });
    await environment.installShell();
    const terminal = await soon(environment.openTerminal(), "a terminal");
    const reason = new Error("enough");
    const abort = new AbortController();
    setTimeout(() => abort.abort(reason), 300);
    await rejectsWith(readForEver(terminal, abort.signal), reason, "a wait that is aborted");
    await terminal.close();
  },
  async "installs no packages without a grant, and none into the system"(trial) {
    const { environment } = await trial.create();
    await refused(environment.installPackages([]), ["PACKAGES_NOT_GRANTED"], "no grant");
    if (!trial.provider.capabilities.packageModes.includes("environment")) return;
    const granted = await createWith(trial, { policy: { packages: "environment" } });
    await refused(granted.installPackages([], { system: true }), ["PACKAGES_NOT_GRANTED"], "into the system");
  },
  async "installs only wheels that are what was approved"(trial) {
    if (!trial.provider.capabilities.packageModes.includes("environment")) return;
    const folder = await mkdtemp(join(tmpdir(), "berth-contract-"));
    try {
      const environment = await createWith(trial, { policy: { packages: "environment" } });
      const path = join(folder, "thing-1.0-py3-none-any.whl");
      await writeFile(path, "not what was approved");
      const sha256 = "0".repeat(64);
      for (const wheel of [
        { path, sha256 },
        { path: join(folder, "absent-1.0-py3-none-any.whl"), sha256 },
        { path: join(folder, "no wheel.zip"), sha256 },
      ]) {
        await refused(environment.installPackages([wheel]), ["WHEEL_REFUSED"], wheel.path);
      }
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  },
  async "relays nothing without a grant"(trial) {
    const { environment } = await trial.create();
    const request: ResourceRequest = { port, method: "GET", path: "/" };
    await refused(environment.requestResource(request), ["EXPOSURE_NOT_GRANTED"], "no grant");
  },
  async "relays only to ports that were approved, and only requests that are one"(trial) {
    if (!trial.provider.capabilities.exposureModes.includes(true)) return;
    const policy: ResourcePolicy = { exposeResources: true, exposedPorts: [port] };
    const environment = await createWith(trial, { policy });
    const get = { port, method: "GET", path: "/" } as const;
    const wrong: readonly ResourceRequest[] = [
      { ...get, port: port + 1 },
      { ...get, path: "relative" },
      { ...get, path: "//elsewhere/" },
      { ...get, path: "http://elsewhere/" },
      { ...get, path: "/a b" },
      { ...get, path: "/a\r\nHost: b" },
      { ...get, path: `/${"x".repeat(8_192)}` },
      { ...get, method: "POST", body: Buffer.from("x") },
      { ...get, method: "POST", body: Buffer.from("x"), contentType: "text/plain\r\nX: y" },
      { ...get, method: "POST", body: Buffer.alloc(2 ** 20 + 1), contentType: "text/plain" },
    ];
    for (const request of wrong) {
      const told = `${request.method} ${request.port} ${request.path.slice(0, 20)} ${request.contentType}`;
      await refused(environment.requestResource(request), ["REQUEST_REFUSED"], told);
    }
  },
};

async function* chunksOf(terminal: TerminalChannel, maxBytes: number): AsyncGenerator<Uint8Array> {
  for (;;) {
    const chunk = await terminal.read({ maxBytes });
    assert.ok(chunk.length <= maxBytes, `a chunk of ${chunk.length} bytes, at most ${maxBytes} were wanted`);
    if (chunk.length === 0) return;
    yield chunk;
  }
}

/** What is read once everything that came before the close was. */
async function lastOf(terminal: TerminalChannel): Promise<Uint8Array> {
  for (;;) {
    const chunk = await terminal.read();
    if (chunk.length === 0) return chunk;
  }
}

async function readForEver(terminal: TerminalChannel, signal: AbortSignal): Promise<void> {
  for (;;) {
    const chunk = await terminal.read({ signal });
    if (chunk.length === 0) return;
  }
}
