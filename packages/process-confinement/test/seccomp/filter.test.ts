// An inner file: the filter of the other architecture cannot be run here, so both are run by a small BPF interpreter.
import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { deniedCalls } from "../../src/seccomp/calls.js";
import { seccompFilter } from "../../src/seccomp/filter.js";
import { growingCalls } from "../../src/seccomp/growing-calls.js";
import { decode, runFilter } from "./bpf.js";

const allowed = 0x7fff0000;
const killed = 0x80000000;
const failsWith = (errno: number): number => 0x50000 + errno;
const EPERM = 1;
const ENOSYS = 38;
const EOPNOTSUPP = 95;
const EDQUOT = 122;
const architectures = [
  { name: "x64", audit: 0xc000003e, other: 0xc00000b7 },
  { name: "arm64", audit: 0xc00000b7, other: 0x40000003 },
] as const;

const vectors = fileURLToPath(new URL("../../../../fixtures/vectors/process-confinement/", import.meta.url));

describe.each(architectures)("the filter for $name", ({ name, audit, other }) => {
  const filter = seccompFilter(name);
  const run = (number: number, ...args: readonly bigint[]): number =>
    runFilter(filter, { number, architecture: audit, args });

  it("is the one on record", () => {
    const file = `${vectors}seccomp-${name}.hex`;
    const lines = `${Buffer.from(filter)
      .toString("hex")
      .replaceAll(/(.{16})/g, "$1\n")}`;
    if (process.env["BERTH_REWRITE_GOLDEN"] === "1") writeFileSync(file, lines);
    expect(lines).toBe(readFileSync(file, "utf8"));
  });

  it("is one that the kernel takes: at most 4,096 instructions, and every jump lands inside", () => {
    const program = decode(filter);
    expect(program.length).toBeLessThanOrEqual(4_096);
    const jumps = [...program.entries()].filter(([, { code }]) => (code & 0x07) === 0x05);
    for (const [at, { jt, jf }] of jumps) expect(at + 1 + Math.max(jt, jf)).toBeLessThan(program.length);
    expect(program.at(-1)?.code).toBe(0x06);
  });

  it("ends a process that calls by another architecture's numbers", () => {
    for (const architecture of [other, 0x40000003, 0])
      expect(runFilter(filter, { number: 0, architecture })).toBe(killed);
  });

  const unconditional = deniedCalls.filter(({ denial }) => denial.kind === "error");
  it.each(unconditional.filter((call) => call[name] !== undefined))("refuses $name whatever its arguments", (call) => {
    const number = call[name] ?? -1;
    const absent = call.name === "fallocate" ? EOPNOTSUPP : ENOSYS;
    expect(call.denial.errno).toBe(/^(clone3|io_uring_|openat2|fallocate)/.test(call.name) ? absent : EPERM);
    fc.assert(
      fc.property(fc.array(fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }), { maxLength: 6 }), (args) => {
        expect(run(number, ...args)).toBe(failsWith(call.denial.errno));
      }),
      { numRuns: 20 },
    );
  });

  const numberOf = (called: string): number => deniedCalls.find((call) => call.name === called)?.[name] ?? -1;

  it("lets clone make threads and processes, and refuses each new namespace", () => {
    const [SIGCHLD, threadFlags] = [17n, 0x3d0f00n];
    for (const flags of [SIGCHLD, threadFlags, 0x4111n]) expect(run(numberOf("clone"), flags)).toBe(allowed);
    for (const bit of [0x20000n, 0x2000000n, 0x4000000n, 0x8000000n, 0x10000000n, 0x20000000n, 0x40000000n])
      expect(run(numberOf("clone"), SIGCHLD | bit), `0x${bit.toString(16)}`).toBe(failsWith(EPERM));
  });

  it("refuses threads that do not share their descriptors, at their start and later", () => {
    const [threadFlags, CLONE_FILES] = [0x3d0f00n, 0x400n];
    expect(run(numberOf("clone"), threadFlags & ~CLONE_FILES)).toBe(failsWith(EPERM));
    expect(run(numberOf("clone"), (threadFlags & ~CLONE_FILES) | (CLONE_FILES << 32n))).toBe(failsWith(EPERM));
    const [CLOSE_RANGE_UNSHARE, CLOSE_RANGE_CLOEXEC] = [2n, 4n];
    for (const flags of [0n, CLOSE_RANGE_CLOEXEC])
      expect(run(numberOf("close_range"), 3n, 0xffffffffn, flags)).toBe(allowed);
    for (const flags of [CLOSE_RANGE_UNSHARE, CLOSE_RANGE_UNSHARE | CLOSE_RANGE_CLOEXEC])
      expect(run(numberOf("close_range"), 3n, 0xffffffffn, flags)).toBe(failsWith(EPERM));
  });

  it("refuses ioctl to put input into a terminal, whatever the upper half of the request says", () => {
    const [TIOCSTI, TIOCLINUX, TCGETS] = [0x5412n, 0x541cn, 0x5401n];
    for (const request of [TIOCSTI, TIOCLINUX, TIOCSTI | (1n << 32n)])
      expect(run(numberOf("ioctl"), 0n, request)).toBe(failsWith(EPERM));
    expect(run(numberOf("ioctl"), TIOCSTI, TCGETS)).toBe(allowed);
  });

  it("refuses leases on files, and no other use of fcntl", () => {
    const [F_SETLEASE, F_GETLEASE, F_SETFL, F_DUPFD_CLOEXEC] = [1024n, 1025n, 4n, 1030n];
    expect(run(numberOf("fcntl"), 3n, F_SETLEASE, 1n)).toBe(failsWith(EPERM));
    for (const command of [F_GETLEASE, F_SETFL, F_DUPFD_CLOEXEC])
      expect(run(numberOf("fcntl"), 3n, command, F_SETLEASE)).toBe(allowed);
  });

  const modes = [
    { called: "chmod", before: [0n] },
    { called: "fchmod", before: [0n] },
    { called: "fchmodat", before: [0n, 0n] },
    { called: "fchmodat2", before: [0n, 0n] },
    { called: "creat", before: [0n] },
    { called: "open", before: [0n, 0o101n] },
    { called: "openat", before: [0n, 0n, 0o101n] },
    { called: "openat", before: [0n, 0n, 0o20200002n] }, // O_TMPFILE
    { called: "mknod", before: [0n] },
    { called: "mknodat", before: [0n, 0n] },
  ] as const;
  it.each(modes.filter(({ called }) => numberOf(called) !== -1))(
    "refuses $called to give a file other rights than its caller's",
    ({ called, before }) => {
      for (const mode of [0o4755n, 0o2755n, 0o6777n, 0o104644n])
        expect(run(numberOf(called), ...before, mode), `${mode}`).toBe(failsWith(EPERM));
      for (const mode of [0o755n, 0o1777n, 0o644n, 0n]) expect(run(numberOf(called), ...before, mode)).toBe(allowed);
    },
  );

  it("does not look at the mode of an open that makes no file", () => {
    if (numberOf("open") !== -1) expect(run(numberOf("open"), 0n, 0o2n, 0o6777n)).toBe(allowed);
    expect(run(numberOf("openat"), 0n, 0n, 0o200002n, 0o6777n)).toBe(allowed); // O_DIRECTORY
  });

  it("lets a program ask for its personality, and not switch protections of memory off", () => {
    for (const harmless of [0n, 8n, 0xffffffffn]) expect(run(numberOf("personality"), harmless)).toBe(allowed);
    for (const harmful of [0x40000n, 0x400000n, 0x440000n, 0x100000n])
      expect(run(numberOf("personality"), harmful)).toBe(failsWith(EPERM));
  });

  it("lets a program make sockets of the families that a network namespace divides, and no others", () => {
    const EAFNOSUPPORT = 97;
    for (const family of [1n, 2n, 10n, 16n]) expect(run(numberOf("socket"), family)).toBe(allowed);
    for (const family of [0n, 15n, 17n, 38n, 40n, 44n])
      expect(run(numberOf("socket"), family)).toBe(failsWith(EAFNOSUPPORT));
  });

  it("allows every other call", () => {
    const denied = new Set(deniedCalls.map((call) => call[name]));
    for (let number = 0; number < 600; number++)
      if (!denied.has(number)) expect(run(number), `${number}`).toBe(allowed);
  });
});

describe.each(architectures)("the filter for $name where nothing may grow", ({ name, audit }) => {
  const usual = seccompFilter(name);
  const strict = seccompFilter(name, { noGrowth: true });
  const run = (filter: Uint8Array, number: number, args: readonly bigint[]): number =>
    runFilter(filter, { number, architecture: audit, args });

  it("allows nothing that the usual one refuses, whatever the arguments", () => {
    const numbers = [...deniedCalls, ...growingCalls].flatMap((call) => call[name] ?? []);
    const argument = fc.oneof(
      fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }),
      fc.constantFrom(0x40n, 0x41n, 0x5412n, 0x541cn),
    );
    fc.assert(
      fc.property(fc.constantFrom(...numbers), fc.array(argument, { maxLength: 6 }), (number, args) => {
        if (run(usual, number, args) !== allowed) expect(run(strict, number, args)).not.toBe(allowed);
      }),
      { numRuns: 2_000 },
    );
  });

  it("lets files be opened, closed and removed, memory be taken, and terminals be asked", () => {
    const numberOf = (called: string): number => growingCalls.find((call) => call.name === called)?.[name] ?? -1;
    expect(run(strict, numberOf("openat"), [0n, 0n, 0o2n])).toBe(allowed);
    expect(run(strict, numberOf("openat"), [0n, 0n, 0o101n])).toBe(failsWith(EDQUOT));
    for (const flags of [0x22n, 0x2n]) expect(run(strict, numberOf("mmap"), [0n, 9n, 3n, flags])).toBe(allowed);
    for (const flags of [0x1n, 0x3n])
      expect(run(strict, numberOf("mmap"), [0n, 9n, 3n, flags])).toBe(failsWith(EDQUOT));
    expect(run(strict, numberOf("ioctl"), [0n, 0x5413n])).toBe(allowed);
    const refused = new Set([...deniedCalls, ...growingCalls].map((call) => call[name]));
    for (let number = 0; number < 600; number++)
      if (!refused.has(number)) expect(run(strict, number, [])).toBe(allowed);
  });
});

it("the filter for x64 refuses the x32 ABI, whose numbers would pass all others", () => {
  const filter = seccompFilter("x64");
  for (const number of [0x40000000, 0x40000000 + 101, 0x40000000 + 521, 0xffffffff])
    expect(runFilter(filter, { number, architecture: 0xc000003e })).toBe(failsWith(ENOSYS));
});
