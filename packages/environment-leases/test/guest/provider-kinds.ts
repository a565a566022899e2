import { randomBytes } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { PartName } from "../../../../fixtures/parts.js";
import { manageSandboxes } from "../../src/bubblewrap/manage-sandboxes.js";
import {
  createUnconfinedProvider,
  type EnvironmentProfile,
  type GuestLimits,
  type ManagedProvider,
  type ProfileTerms,
  type ResourcePolicy,
  readProfile,
} from "../../src/index.js";

export interface ProviderKind {
  readonly name: string;
  readonly parts: readonly PartName[];
  open(folder: string, limits?: GuestLimits): Promise<ManagedProvider>;
  profile(policy?: ResourcePolicy, more?: Partial<EnvironmentProfile>): ProfileTerms;
}

const interpreter = "/usr/bin/python3";

export const unconfined: ProviderKind = {
  name: "unconfined",
  parts: ["python3"],
  open: (folder, limits) => createUnconfinedProvider({ folder, limits }),
  profile: (policy, more) =>
    readProfile("tried", {
      provider: "unconfined",
      template: interpreter,
      platform: process.platform,
      policy: { ...policy, network: "internet", elevation: true },
      ...more,
    }),
};

/** What a machine with writable control groups reports; `createBubblewrapProvider` asks the machine itself. */
export const report = {
  usable: true,
  bubblewrap: "as installed",
  limits: ["memoryBytes", "processes", "cpus", "fileBytes", "openFiles"],
  findings: [],
} as const;

export const bubblewrap: ProviderKind = {
  name: "bubblewrap",
  parts: ["python3", "bubblewrap"],
  open: (folder, limits) => manageSandboxes({ folder, limits }, report),
  profile: (policy, more) =>
    readProfile("tried", { provider: "bubblewrap", template: interpreter, policy: { ...policy }, ...more }),
};

export const kinds: readonly ProviderKind[] = [unconfined, bubblewrap];

export function workerName(): string {
  return `mcp-${randomBytes(12).toString("hex")}`;
}

export interface OpenedProvider extends AsyncDisposable {
  readonly provider: ManagedProvider;
  readonly folder: string;
}

/** A provider in a folder of its own, both gone at the end. */
export async function openProvider(kind: ProviderKind, limits?: GuestLimits): Promise<OpenedProvider> {
  const folder = await mkdtemp(join(tmpdir(), "berth-"));
  const provider = await kind.open(folder, limits);
  return {
    provider,
    folder,
    async [Symbol.asyncDispose]() {
      await provider.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

export function text(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString("utf8");
}
