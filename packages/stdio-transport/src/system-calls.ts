/** Numbers of the system calls that a supervisor makes itself (Linux sources, syscall tables of each architecture). */
export interface SystemCallNumbers {
  readonly prctl: number;
  readonly unshare: number;
  readonly mount: number;
  readonly execve: number;
}

/** The table that newer architectures share. */
const generic: SystemCallNumbers = { prctl: 167, unshare: 97, mount: 40, execve: 221 };

const numbers: Readonly<Record<string, SystemCallNumbers>> = {
  arm64: generic,
  loong64: generic,
  ppc64: { prctl: 171, unshare: 282, mount: 21, execve: 11 },
  riscv64: generic,
  s390x: { prctl: 172, unshare: 303, mount: 21, execve: 11 },
  x64: { prctl: 157, unshare: 272, mount: 165, execve: 59 },
};

/** By Node's name for the architecture; 64-bit ones only. */
export function systemCallNumbers(arch: string): SystemCallNumbers | undefined {
  return numbers[arch];
}

/** Flags of unshare (linux/sched.h). */
export const unshareFlags = { mount: 0x0002_0000, user: 0x1000_0000, pid: 0x2000_0000 } as const;
