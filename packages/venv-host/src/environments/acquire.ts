import { mkdir, readdir, rename } from "node:fs/promises";
import { join } from "node:path";
import { VenvHostError } from "../errors.js";
import { buildEnvironment } from "./build/build-environment.js";
import { type Plan, planOf } from "./environment-parts.js";
import type { AcquireOptions, HeldEnvironment } from "./environment-store.js";
import { checkEnvironment } from "./health/check-environment.js";
import type { ReadyMarker } from "./health/ready-marker.js";
import { lookAtLock } from "./locks/build-lock.js";
import type { Use } from "./locks/uses.js";
import { whyAnother } from "./reason.js";
import { moveTree, removeTree } from "./remove-tree.js";
import { repeatSteps } from "./repeat-step.js";
import { syncFolder } from "./small-file.js";
import { environmentPath, lockFolder, type StoreParts } from "./store-parts.js";
import type { RequestTerms } from "./store-terms.js";
import { inStore, systemCode } from "./system-fault.js";
import { withLock } from "./with-lock.js";

type Found = Pick<HeldEnvironment, "origin" | "reason"> & { readonly marker: ReadyMarker };

/** A whole environment that is held, from the store or built now. */
export async function acquire(
  parts: StoreParts,
  request: RequestTerms,
  options: AcquireOptions & { readonly signal: AbortSignal },
): Promise<HeldEnvironment> {
  const plan = await planOf(request, parts.terms, parts, options.signal);
  const { digest: key } = plan.key;
  // Before the lock is looked at: see uses.ts.
  const use = await beginUse(parts, key);
  try {
    const found = (await findWhole(parts, key, options.signal)) ?? (await makeWhole(parts, plan, options));
    options.signal.throwIfAborted();
    return held(parts, key, found, use);
  } catch (error) {
    await use.end(parts.terms.now()).catch(() => {}); // what went wrong before is what counts
    throw error;
  }
}

/** On a file system that cannot be written nobody collects either. */
function beginUse({ folder, uses }: StoreParts, key: string): Promise<Use> {
  return inStore(folder.root, "use", async () => {
    try {
      return await uses.begin(key);
    } catch (error) {
      if (systemCode(error) === "EROFS") return { end: () => Promise.resolve() };
      throw error;
    }
  });
}

/** The short way: nobody builds or collects it, and it is whole. */
async function findWhole(parts: StoreParts, key: string, signal: AbortSignal): Promise<Found | undefined> {
  return inStore(parts.folder.root, "check", async () => {
    if ((await lookAtLock(lockFolder(parts, key), parts.viewer)) !== undefined) return undefined;
    const health = await checkEnvironment(environmentPath(parts, key), key, signal);
    return health.state === "whole" ? { marker: health.marker, origin: "cached", reason: undefined } : undefined;
  });
}

async function makeWhole(
  parts: StoreParts,
  plan: Plan,
  options: AcquireOptions & { signal: AbortSignal },
): Promise<Found> {
  const { digest: key } = plan.key;
  const steps = repeatSteps(options.onProgress ?? ((): void => {}), parts.terms.scheduler);
  const onStep = steps.tell;
  const onWait = (holder: string): void => onStep(`waiting for ${holder}, which builds or checks it`);
  return withLock<Found>(parts, key, { signal: options.signal, onWait }, () =>
    inStore(parts.folder.root, "build", async () => {
      const path = environmentPath(parts, key);
      const health = await checkEnvironment(path, key, options.signal);
      if (health.state === "whole") return { marker: health.marker, origin: "cached", reason: undefined };
      await sweepBuilds(parts, key);
      const why = health.state === "broken" ? health.why : await whyAnother(parts.folder.environments, plan);
      if (why !== undefined) onStep(`building anew: ${why}`);
      const marker = await build(parts, plan, { ...options, onProgress: onStep });
      return { marker, origin: why === undefined ? "built" : "rebuilt", reason: why };
    }),
  ).finally(steps.end);
}

/** Builds aside, publishes in one step, and looks at what was published as at any other. */
async function build(
  parts: StoreParts,
  plan: Plan,
  { signal, onProgress }: { readonly signal: AbortSignal; readonly onProgress: (step: string) => void },
): Promise<ReadyMarker> {
  const { digest: key } = plan.key;
  const { terms } = parts;
  const target = environmentPath(parts, key);
  const folder = join(parts.folder.building, `${key}.${parts.random()}`);
  await mkdir(folder, { mode: 0o700 });
  try {
    const environment = await buildEnvironment({ plan, terms, folder, target, signal, onStep: onProgress });
    await moveAside(target, join(folder, "broken"));
    await rename(environment, target);
    await syncFolder(parts.folder.environments);
  } finally {
    // What cannot be removed now is removed by the next one who builds it, or collects.
    await removeTree(folder).catch(() => {});
  }
  const health = await checkEnvironment(target, key, signal);
  if (health.state === "whole") return health.marker;
  const why = health.state === "broken" ? health.why : "it vanished";
  throw new VenvHostError("VENV_BUILD_FAILED", `the environment was built and is not whole: ${why}`, { step: "check" });
}

async function moveAside(path: string, to: string): Promise<void> {
  await moveTree(path, to).catch((error: unknown) => {
    if (systemCode(error) !== "ENOENT") throw error;
  });
}

/** What builds of this key left that were killed. Only who has the lock of the key builds it, so none of them lives. */
export async function sweepBuilds({ folder }: StoreParts, key: string): Promise<void> {
  const names = await readdir(folder.building);
  for (const name of names.filter((each) => each.startsWith(`${key}.`))) {
    // A process of a killed build may still write there for a moment: left for the next.
    await removeTree(join(folder.building, name)).catch(() => {});
  }
}

function held(parts: StoreParts, key: string, found: Found, use: Use): HeldEnvironment {
  const path = environmentPath(parts, key);
  let closing: Promise<void> | undefined;
  const close = (): Promise<void> => (closing ??= inStore(parts.folder.root, "use", () => use.end(parts.terms.now())));
  return {
    key,
    path,
    python: join(path, "bin", "python"),
    sitePackages: join(path, found.marker.sitePackages),
    evidence: found.marker.evidence,
    origin: found.origin,
    reason: found.reason,
    close,
    [Symbol.asyncDispose]: close,
  };
}
