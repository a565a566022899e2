import type { Mount } from "./mounts.js";
import { insideHostname, insideUser } from "./system-tree.js";

/** What a sandbox is made of, decided; bubblewrap is told exactly this. */
export interface SandboxPlan {
  /** In any order: what lies below something else is mounted after it. */
  readonly mounts: readonly Mount[];
  /** Size of /tmp and of /dev/shm, each. */
  readonly tmpBytes: number;
  readonly env: readonly (readonly [string, string])[];
  readonly cwd: string;
  readonly asPid1: boolean;
  /** Not in releases before 0.8; the seccomp filter refuses the same calls. */
  readonly disableUserNamespaces: boolean;
  /** What is executed inside: program and arguments. */
  readonly command: readonly string[];
}

/** The numbers under which bubblewrap finds what it is given. */
export interface PlanDescriptors {
  /** The arguments themselves. */
  readonly args: number;
  readonly status: number;
  readonly seccomp: number;
  /** One for each mount of kind `text`, in their order. */
  readonly texts: readonly number[];
  /** Point to /dev/null; bubblewrap reads no arguments from them and closes them. */
  readonly spent: readonly number[];
}

/** How bubblewrap is called. */
export interface BubblewrapArguments {
  /** Its command line, which every user of the machine can read: no path, no environment, but the command's own arguments. */
  readonly argv: readonly string[];
  /** What it reads from the descriptor `args`. */
  readonly args: readonly string[];
}

/** Turns a plan into bubblewrap's arguments. Pure. */
export function bubblewrapArguments(plan: SandboxPlan, descriptors: PlanDescriptors): BubblewrapArguments {
  const readers = [descriptors.args, ...descriptors.spent].flatMap((descriptor) => ["--args", String(descriptor)]);
  return {
    argv: [...readers, "--", ...plan.command],
    args: [
      ...namespaces,
      ...(plan.disableUserNamespaces ? ["--disable-userns"] : []),
      ...(plan.asPid1 ? ["--as-pid-1"] : []),
      ...["--json-status-fd", String(descriptors.status), "--seccomp", String(descriptors.seccomp)],
      ...fileTree(plan, descriptors.texts),
      ...["--chdir", plan.cwd, "--clearenv"],
      ...plan.env.flatMap(([name, value]) => ["--setenv", name, value]),
    ],
  };
}

const namespaces: readonly string[] = [
  "--unshare-user",
  "--unshare-pid",
  "--unshare-ipc",
  "--unshare-uts",
  "--unshare-cgroup",
  "--unshare-net",
  "--die-with-parent",
  "--new-session",
  ...["--cap-drop", "ALL"],
  ...["--uid", String(insideUser.id), "--gid", String(insideUser.id)],
  ...["--hostname", insideHostname],
];

function fileTree({ mounts, tmpBytes }: SandboxPlan, texts: readonly number[]): readonly string[] {
  const files = mounts.filter((mount) => mount.kind === "text");
  const written = files.flatMap(({ target }, index) => ["--perms", "0444", "--file", String(texts[index]), target]);
  const others = mounts.filter((mount) => mount.kind !== "text");
  return [
    // The kernel lets whoever is root outside write its settings (core_pattern), whatever rights it has inside.
    ...["--proc", "/proc", "--remount-ro", "/proc"],
    ...["--dev", "/dev", ...memoryFileSystem("/dev/shm", tmpBytes, "1777")],
    // What else bubblewrap makes in /dev is memory without a bound.
    ...["--remount-ro", "/dev"],
    ...memoryFileSystem("/tmp", tmpBytes, "1777"),
    ...written,
    ...[...others].sort((one, other) => depth(one) - depth(other)).flatMap(mountArguments),
    ...["--remount-ro", "/"],
  ];
}

function depth({ target }: Mount): number {
  return target.split("/").length;
}

function mountArguments(mount: Mount): readonly string[] {
  switch (mount.kind) {
    case "read":
      return ["--ro-bind", mount.source, mount.target];
    case "write":
      return ["--bind", mount.source, mount.target];
    case "memory":
      return memoryFileSystem(mount.target, mount.bytes, mount.mode);
    case "link":
      return ["--symlink", mount.to, mount.target];
    case "text":
      return [];
  }
}

function memoryFileSystem(target: string, bytes: number, mode: string): readonly string[] {
  return ["--perms", mode, "--size", String(bytes), "--tmpfs", target];
}
