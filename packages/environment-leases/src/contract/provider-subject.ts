import assert from "node:assert/strict";
import type { DisposableEnvironment } from "../environment.js";
import { isLeaseError, type LeaseErrorCode } from "../errors.js";
import type { ResourcePolicy } from "../policy.js";
import type { ProfileTerms } from "../profile.js";
import type { ManagedProvider } from "../provider.js";
import { readProfile } from "../reading/read-profile.js";

/** A provider of its own for one check. */
export interface ProviderSubject {
  readonly provider: ManagedProvider;
  /** `template` of its profiles. */
  readonly template: string;
  /** What every profile needs so that the provider accepts it. Default: nothing. */
  readonly policy?: ResourcePolicy | undefined;
  /** Default `linux`. */
  readonly platform?: string | undefined;
  /** Small programs, as argument lists. `pythonPrograms` has them for providers with Python inside. */
  readonly programs: (environment: DisposableEnvironment) => ContractPrograms;
  /** Another provider over the same machine and folders, as after a crash of this process, while the first is left as it is. */
  readonly another?: (() => Promise<ManagedProvider>) | undefined;
  dispose?(): Promise<void> | void;
}

/** What programs the checks run inside. */
export interface ContractPrograms {
  /** Writes the text to stdout and another one to stderr. */
  print(out: string, err: string): readonly string[];
  exit(status: number): readonly string[];
  /** Writes what it reads, chunk by chunk, until its input ends. */
  copy(): readonly string[];
  /** Writes so many bytes to stdout. */
  flood(bytes: number): readonly string[];
  /** Writes `up`, then runs until SIGINT ends it. */
  wait(): readonly string[];
  /** Writes `up`, then runs on, whatever signal it can refuse. */
  resist(): readonly string[];
}

/** The programs for a guest with Python. */
export function pythonPrograms(interpreter: string): ContractPrograms {
  const python = (code: string, ...args: readonly string[]): readonly string[] => [interpreter, "-c", code, ...args];
  const up = "sys.stdout.write('up'); sys.stdout.flush()";
  return {
    print: (out, err) => python("import sys; sys.stdout.write(sys.argv[1]); sys.stderr.write(sys.argv[2])", out, err),
    exit: (status) => python(`raise SystemExit(${status})`),
    copy: () => python("import os\nwhile True:\n b = os.read(0, 65536)\n if not b: break\n os.write(1, b)"),
    flood: (bytes) =>
      python(`import sys\nfor n in range(0, ${bytes}, 65536): sys.stdout.write('x' * min(65536, ${bytes} - n))`),
    wait: () => python(`import sys, time, signal; signal.signal(2, signal.SIG_DFL); ${up}; time.sleep(3600)`),
    resist: () =>
      python(
        `import sys, time, signal; signal.signal(2, signal.SIG_IGN); signal.signal(15, signal.SIG_IGN); ${up}; time.sleep(3600)`,
      ),
  };
}

/** A profile of the subject's provider. */
export function profileOf(
  { provider, template, policy, platform }: ProviderSubject,
  more: { readonly policy?: ResourcePolicy; readonly shell?: boolean } = {},
): ProfileTerms {
  const { shell } = more;
  return readProfile("contract", {
    provider: provider.name,
    template,
    platform,
    shell,
    policy: { ...policy, ...more.policy },
  });
}

/** Longer than any check. */
export const longMs = 120_000;

/** How long anything may take that a check waits for. */
const patienceMs = 20_000;

/** The promise, or a failed check when it does not settle. */
export async function soon<T>(work: Promise<T>, sentence: string): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(
      () => reject(new assert.AssertionError({ message: `${sentence}: nothing within ${patienceMs} ms` })),
      patienceMs,
    );
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** Waits for a rejection with one of the codes. */
export async function refused(
  work: Promise<unknown>,
  codes: readonly LeaseErrorCode[],
  sentence: string,
): Promise<void> {
  const [outcome] = await soon(Promise.allSettled([work]), sentence);
  if (outcome?.status !== "rejected") assert.fail(`${sentence}: it was not refused`);
  const error: unknown = outcome.reason;
  const code = isLeaseError(error) ? error.code : undefined;
  assert.ok(code !== undefined && codes.includes(code), `${sentence}: ${codes.join(" or ")}, was ${String(error)}`);
}

/** Waits for a rejection with exactly this reason. */
export async function rejectsWith(work: Promise<unknown>, reason: unknown, sentence: string): Promise<void> {
  const [outcome] = await soon(Promise.allSettled([work]), sentence);
  assert.equal(outcome?.status, "rejected", `${sentence}: it was not refused`);
  assert.equal(outcome?.status === "rejected" ? outcome.reason : undefined, reason, sentence);
}

export async function assertGone(provider: ManagedProvider, worker: string): Promise<void> {
  assert.equal(await provider.exists(worker), "no", `${worker} is gone`);
  assert.ok(!(await provider.listWorkers()).includes(worker), `${worker} is not listed`);
}

/** Reads until it has seen the text. */
export async function readUntil(chunks: AsyncIterable<unknown>, text: string): Promise<void> {
  let seen = "";
  for await (const chunk of chunks) {
    seen += chunk instanceof Uint8Array ? Buffer.from(chunk).toString("latin1") : "";
    if (seen.includes(text)) return;
  }
  assert.fail(`the stream ended before ${JSON.stringify(text)}: ${JSON.stringify(seen.slice(-200))}`);
}
