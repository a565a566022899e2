/** How a forbidden system call is answered. */
export type Denial =
  /** Fails with this error number. */
  | { readonly kind: "error"; readonly errno: number }
  | BitsDenial
  /** Fails when an argument's low half is one of these values. */
  | { readonly kind: "values"; readonly argument: number; readonly values: readonly number[]; readonly errno: number }
  /** Fails unless an argument's low half is one of these values. */
  | { readonly kind: "others"; readonly argument: number; readonly values: readonly number[]; readonly errno: number };

/** Fails when an argument's low half has any of these bits, another one any of its own (`when`), and a third none (`unless`). */
export interface BitsDenial extends ArgumentBits {
  readonly kind: "bits";
  readonly when?: ArgumentBits | undefined;
  readonly unless?: ArgumentBits | undefined;
  readonly errno: number;
  /** What else fails. */
  readonly otherwise?: BitsDenial | undefined;
}

/** Bits of one argument. */
export interface ArgumentBits {
  readonly argument: number;
  readonly mask: number;
}

/** One forbidden call. A number is undefined where the architecture does not have it. */
export interface DeniedCall {
  readonly name: string;
  readonly x64: number | undefined;
  readonly arm64: number | undefined;
  readonly denial: Denial;
}

const EPERM = 1;
const ENOSYS = 38;
const EOPNOTSUPP = 95;
const EAFNOSUPPORT = 97;
/** All CLONE_NEW* but CLONE_NEWTIME, which shares its bit with the exit signal and is for unshare and clone3 only. */
const newNamespaces = 0x7e020000;
const CLONE_THREAD = 0x10000;
const CLONE_FILES = 0x400;
const CLOSE_RANGE_UNSHARE = 2;
const TIOCSTI = 0x5412;
const TIOCLINUX = 0x541c;
/** FS_IOC_RESVSP, FS_IOC_RESVSP64, FS_IOC_ZERO_RANGE: fallocate by another name (fs/ioctl.c). */
const reservations = [0x40305828, 0x4030582a, 0x40305839];
const F_SETLEASE = 1024;
/** S_ISUID and S_ISGID. */
const otherUserBits = 0o6000;
/** O_CREAT and what is O_TMPFILE without O_DIRECTORY: without them the mode is no argument, and may be anything. */
export const makesFile = 0x400040;

/** PER_LINUX, PER_LINUX32, both with UNAME26, and the question which one it is; others switch protections of memory off. */
const harmlessPersonalities = [0, 8, 0x20000, 0x20008, 0xffffffff];

/** AF_UNIX, AF_INET, AF_INET6, AF_NETLINK: what a network namespace divides. AF_VSOCK reaches the hypervisor from any namespace. */
const dividedFamilies = [1, 2, 10, 16];

/** A thread with descriptors of its own: /proc shows those of the first alone, so that a watch does not find what they hold. */
const threadWithOwnFiles: BitsDenial = {
  kind: "bits",
  argument: 0,
  mask: CLONE_THREAD,
  unless: { argument: 0, mask: CLONE_FILES },
  errno: EPERM,
};

export const call = (
  name: string,
  x64: number | undefined,
  arm64: number | undefined,
  denial?: Denial,
): DeniedCall => ({
  name,
  x64,
  arm64,
  denial: denial ?? { kind: "error", errno: EPERM },
});

/** A mode with which a file would run as somebody else than who starts it. */
const otherUser = (argument: number, when?: ArgumentBits): Denial => ({
  kind: "bits",
  argument,
  mask: otherUserBits,
  when,
  errno: EPERM,
});

/**
 * What is refused inside, by number (arch/x86/entry/syscalls/syscall_64.tbl and include/uapi/asm-generic/unistd.h, Linux
 * 6.18). README § System calls says why for each group.
 */
export const deniedCalls: readonly DeniedCall[] = [
  // The kernel's filter cannot read the structure that clone3 points to; libc falls back to clone.
  call("clone3", 435, 435, { kind: "error", errno: ENOSYS }),
  call("clone", 56, 220, {
    kind: "bits",
    argument: 0,
    mask: newNamespaces,
    errno: EPERM,
    otherwise: threadWithOwnFiles,
  }),
  call("close_range", 436, 436, { kind: "bits", argument: 2, mask: CLOSE_RANGE_UNSHARE, errno: EPERM }),
  call("unshare", 272, 97),
  call("setns", 308, 268),
  call("ioctl", 16, 29, { kind: "values", argument: 1, values: [TIOCSTI, TIOCLINUX, ...reservations], errno: EPERM }),
  call("socket", 41, 198, { kind: "others", argument: 0, values: dividedFamilies, errno: EAFNOSUPPORT }),

  // A lease lets the holder make every open of that file wait, on the whole machine (fcntl(2), 45 seconds each time).
  call("fcntl", 72, 25, { kind: "values", argument: 1, values: [F_SETLEASE], errno: EPERM }),

  // Takes a whole disk in an instant, past `fileBytes` and between two looks of a watch; libc falls back to writing.
  call("fallocate", 285, 47, { kind: "error", errno: EOPNOTSUPP }),

  // In a bound folder such a file is the host's user's own, for every user of the machine who can reach it.
  call("chmod", 90, undefined, otherUser(1)),
  call("fchmod", 91, 52, otherUser(1)),
  call("fchmodat", 268, 53, otherUser(2)),
  call("fchmodat2", 452, 452, otherUser(2)),
  call("creat", 85, undefined, otherUser(1)),
  call("open", 2, undefined, otherUser(2, { argument: 1, mask: makesFile })),
  call("openat", 257, 56, otherUser(3, { argument: 2, mask: makesFile })),
  // Its mode lies in a structure, which the filter cannot read; who uses it falls back to openat.
  call("openat2", 437, 437, { kind: "error", errno: ENOSYS }),
  call("mknod", 133, undefined, otherUser(1)),
  call("mknodat", 259, 33, otherUser(2)),

  call("ptrace", 101, 117),
  call("process_vm_readv", 310, 270),
  call("process_vm_writev", 311, 271),
  call("process_madvise", 440, 440),
  call("pidfd_getfd", 438, 438),
  call("kcmp", 312, 272),

  call("add_key", 248, 217),
  call("request_key", 249, 218),
  call("keyctl", 250, 219),

  call("bpf", 321, 280),
  call("perf_event_open", 298, 241),
  call("userfaultfd", 323, 282),
  call("io_uring_setup", 425, 425, { kind: "error", errno: ENOSYS }),
  call("io_uring_enter", 426, 426, { kind: "error", errno: ENOSYS }),
  call("io_uring_register", 427, 427, { kind: "error", errno: ENOSYS }),

  call("mount", 165, 40),
  call("umount2", 166, 39),
  call("pivot_root", 155, 41),
  call("chroot", 161, 51),
  call("open_tree", 428, 428),
  call("move_mount", 429, 429),
  call("fsopen", 430, 430),
  call("fsconfig", 431, 431),
  call("fsmount", 432, 432),
  call("fspick", 433, 433),
  call("mount_setattr", 442, 442),
  call("open_tree_attr", 467, 467),
  call("open_by_handle_at", 304, 265),
  call("name_to_handle_at", 303, 264),
  call("quotactl", 179, 60),
  call("quotactl_fd", 443, 443),
  call("fanotify_init", 300, 262),
  call("fanotify_mark", 301, 263),
  call("lookup_dcookie", 212, 18),

  call("kexec_load", 246, 104),
  call("kexec_file_load", 320, 294),
  call("init_module", 175, 105),
  call("finit_module", 313, 273),
  call("delete_module", 176, 106),
  call("swapon", 167, 224),
  call("swapoff", 168, 225),
  call("reboot", 169, 142),
  call("syslog", 103, 116),
  call("acct", 163, 89),
  call("sethostname", 170, 161),
  call("setdomainname", 171, 162),
  call("iopl", 172, undefined),
  call("ioperm", 173, undefined),
  call("modify_ldt", 154, undefined),
  call("vhangup", 153, 58),
  call("nfsservctl", 180, 42),

  call("settimeofday", 164, 170),
  call("clock_settime", 227, 112),
  call("clock_adjtime", 305, 266),
  call("adjtimex", 159, 171),

  call("mbind", 237, 235),
  call("migrate_pages", 256, 238),
  call("move_pages", 279, 239),
  call("set_mempolicy", 238, 237),
  call("set_mempolicy_home_node", 450, 450),
  call("uselib", 134, undefined),
  call("ustat", 136, undefined),
  call("sysfs", 139, undefined),
  call("_sysctl", 156, undefined),
  call("personality", 135, 92, { kind: "others", argument: 0, values: harmlessPersonalities, errno: EPERM }),
];
