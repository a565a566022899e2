import type { EscapeAttempt } from "./escapes.js";

/** What the kit knows of an attempt beside what it tells. */
export interface AttemptPlan extends EscapeAttempt {
  /** What a success reads: content that is not the canary is none. */
  readonly reads?: "canary";
  /** What on this machine shows that it had an effect, whatever it answered. */
  readonly effect?: EffectName;
  /** Only the effect counts: the attempt itself cannot know. */
  readonly onlyEffect?: true;
  /** Being ended is a refusal too: the limit was held. */
  readonly mayEnd?: true;
}

/** Where effects are seen. */
export type EffectName =
  | "tcp"
  | "udp"
  | "abstract"
  | "path"
  | "signal"
  | "tree"
  | "survivor"
  | "held-output"
  | "output"
  | "set-user-id"
  | "descriptor";

const plan = (
  id: string,
  title: string,
  tries: string,
  more: Partial<Omit<AttemptPlan, "id" | "title" | "tries">> = {},
): AttemptPlan => ({ id, title, tries, control: "unwrapped", ...more });

const reads = { reads: "canary" } as const;
const capabilities = { control: "capabilities" } as const;
const mayEnd = { mayEnd: true } as const;

/** The attempts, in the order in which they are made. */
export const attemptPlans: readonly AttemptPlan[] = [
  plan("secret-path", "read a secret", "opens a file of the host by its path", reads),
  plan("other-owner", "read another owner's data", "opens a file in a folder beside its own", reads),
  plan("dot-dot-path", "leave the workspace by its path", "opens WORKSPACE/../../… and the secret's path", reads),
  plan(
    "dot-dot-descriptor",
    "leave the workspace by a descriptor",
    'climbs from an open folder with openat("..")',
    reads,
  ),
  plan(
    "proc-root",
    "another process's root",
    "opens the secret below /proc/1/root, and every other root and cwd in /proc",
    reads,
  ),
  plan("proc-descriptor", "another process's files", "opens what others have open, through /proc/PID/fd", reads),
  plan("symbolic-link", "plant a symbolic link", "links from the workspace to the secret and reads through it", reads),
  plan("hard-link", "plant a hard link", "gives the secret a second name in the workspace", reads),
  plan(
    "measured-tree",
    "change what was measured",
    "writes, truncates, replaces, removes, adds to and moves a read-only tree",
    {
      effect: "tree",
    },
  ),
  plan(
    "system-write",
    "write to the system",
    "makes a file in /, /usr, /etc, /dev, /run, /sys and their like",
    capabilities,
  ),
  plan("file-lease", "make the host wait for a file", "fcntl(F_SETLEASE) on a file of a read-only tree"),
  plan("device-node", "make a device", "mknod of a character device in the workspace"),
  plan("device-mode", "change a device of the host", "gives the mode that it has to the inode of /dev/null"),
  plan("raw-device", "open the kernel's devices", "opens disks, kernel memory and kernel log in /dev"),
  plan("inherited-descriptor", "use an inherited descriptor", "looks for any descriptor above 2", {
    effect: "descriptor",
  }),
  plan("process-list", "see the host's processes", "looks in /proc for one of the host"),
  plan("process-environment", "read a process's environment", "looks for a variable in every /proc/PID/environ", reads),
  plan("process-memory", "read a process's memory", "reads /proc/PID/mem of a process of the host", reads),
  plan(
    "process-vm-readv",
    "read a process's memory by system call",
    "process_vm_readv of a process of the host",
    reads,
  ),
  plan("ptrace", "trace a process", "PTRACE_SEIZE of a process of the host"),
  plan("signal", "signal a process", "kill and pidfd_send_signal to a process of the host", {
    effect: "signal",
    onlyEffect: true,
  }),
  plan("shared-memory", "attach shared memory", "shmat of a segment of the host", reads),
  plan("host-loopback", "connect to the host", "TCP to a listener on the host's 127.0.0.1", { effect: "tcp" }),
  plan("host-datagram", "send to the host", "UDP to the host's 127.0.0.1", { effect: "udp" }),
  plan("abstract-socket", "connect to an abstract socket", "a unix socket of the host that has no path", {
    effect: "abstract",
  }),
  plan("path-socket", "connect to a socket file", "a unix socket of the host by its path", { effect: "path" }),
  plan("raw-socket", "open a raw socket", "ICMP and packet sockets", capabilities),
  plan(
    "undivided-socket",
    "open a socket of no namespace",
    "VSOCK, which leads to the hypervisor, and ALG, which leads into the kernel",
  ),
  plan("other-user", "become another user", "setresuid(0), and set-user-ID programs without no_new_privs"),
  plan("mount", "mount", "a memory file system over the workspace", capabilities),
  plan("chroot", "change the root", "chroot, the first step of a classic escape", capabilities),
  plan("unshare", "make a user namespace", "unshare(CLONE_NEWUSER), which brings all capabilities within"),
  plan("clone", "make a user namespace by clone", "clone and clone3 with CLONE_NEWUSER"),
  plan("join-namespace", "join a namespace", "setns to every namespace that /proc shows", capabilities),
  plan(
    "keyring",
    "use the kernel's keyrings",
    "keyctl and add_key: keyrings are not divided by namespaces of processes",
  ),
  plan("bpf", "load into the kernel", "bpf(BPF_MAP_CREATE)"),
  plan("io-uring", "use io_uring", "io_uring_setup: its operations pass no system call filter"),
  plan("perf-event", "use performance events", "perf_event_open of its own process"),
  plan("kernel-log", "read the kernel's log", "syslog(SYSLOG_ACTION_READ_ALL)"),
  plan("file-handle", "open by handle", "open_by_handle_at: a number in place of a path"),
  plan(
    "core-pattern",
    "change the kernel's settings",
    "opens core_pattern, modprobe, binfmt_misc, sysrq and uevent_helper to write",
  ),
  plan("control-group", "change control groups", "opens cgroup.procs, tasks and release_agent of every group to write"),
  plan("clock", "set the clock", "adjtimex with the tick that it has: needs the right, changes nothing"),
  plan("fork-bomb", "too many processes", "forks until the limit and 16 more", mayEnd),
  plan("memory", "too much memory", "touches the limit and 64 MiB more", mayEnd),
  plan("tmp-fill", "fill /tmp", "writes the limit and 8 MiB more", mayEnd),
  plan("shm-fill", "fill /dev/shm", "writes the limit and 8 MiB more", mayEnd),
  plan("disk-fill", "fill the workspace", "writes twice the limit and stays with it", mayEnd),
  plan("output-flood", "flood the output", "writes four times the limit to stdout", {
    ...mayEnd,
    effect: "output",
    onlyEffect: true,
  }),
  plan(
    "set-user-id",
    "leave a program that others start as its owner",
    "gives an empty file in the workspace the set-user-id bit, by each call that sets modes",
    { effect: "set-user-id", onlyEffect: true },
  ),
  plan("double-fork", "outlive the command", "a daemon of its own session that ignores SIGTERM", {
    effect: "survivor",
    onlyEffect: true,
  }),
  plan("held-pipes", "hold the pipes", "a daemon keeps stdout and stderr when the command has ended", {
    effect: "held-output",
    onlyEffect: true,
  }),
];

/** What the kit tries, in its order. */
export const escapeAttempts: readonly EscapeAttempt[] = attemptPlans.map(({ id, title, tries, control }) => ({
  ...{ id, title, tries, control },
}));
