import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  createLeases,
  createMemoryLeaseStore,
  type EnvironmentProfile,
  type Leases,
  type ManagedProvider,
} from "@berth/environment-leases";
import { onTestFinished } from "vitest";
import { createSessions, type SessionLimits, type Sessions } from "../../src/index.js";

export interface RealSessions {
  readonly sessions: Sessions;
  readonly leases: Leases;
  readonly provider: ManagedProvider;
  readonly faults: readonly unknown[];
}

/** Sessions over leases over a provider, all real, gone with the test. */
export async function openRealSessions(
  createProvider: (folder: string) => Promise<ManagedProvider>,
  profile: Omit<EnvironmentProfile, "provider" | "template">,
  limits: SessionLimits = {},
): Promise<RealSessions> {
  const folder = await mkdtemp(join(tmpdir(), "bs-"));
  const provider = await createProvider(folder);
  const faults: unknown[] = [];
  const onFault = (fault: unknown): void => void faults.push(fault);
  const leases = createLeases({
    ...{ store: createMemoryLeaseStore(), providers: [provider], onFault, allowUnconfined: true },
    profiles: { python: { ...profile, provider: provider.name, template: "/usr/bin/python3" } },
    limits: { maxPerOwner: 20 },
  });
  await leases.recover();
  const sessions = createSessions({ leases, profile: "python", limits, onFault });
  onTestFinished(async () => {
    await sessions.close();
    await leases.close();
    await provider.close();
    await rm(folder, { recursive: true, force: true });
  });
  return { sessions, leases, provider, faults };
}
