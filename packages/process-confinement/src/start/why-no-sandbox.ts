import { readOr } from "../machine/read-or.js";

/** What the kernel is told about namespaces; undefined where there is no such setting. */
export interface KernelSettings {
  readonly maxUserNamespaces: string | undefined;
  readonly unprivilegedUserNamespaces: string | undefined;
  readonly appArmorRestriction: string | undefined;
}

export function readKernelSettings(): KernelSettings {
  return {
    maxUserNamespaces: setting("/proc/sys/user/max_user_namespaces"),
    unprivilegedUserNamespaces: setting("/proc/sys/kernel/unprivileged_userns_clone"),
    appArmorRestriction: setting("/proc/sys/kernel/apparmor_restrict_unprivileged_userns"),
  };
}

/** Undefined where this kernel has no such setting. */
function setting(path: string): string | undefined {
  return readOr(path, undefined)?.trim();
}

/** Which aspect of a sandbox failed when none came up, why, and what to do: one sentence each. */
export interface NoSandbox {
  readonly aspect: "bubblewrap" | "user-namespace" | "pid-namespace" | "seccomp";
  readonly cause: string;
  readonly cure: string;
}

/** Reads bubblewrap's last words in the light of the kernel's settings; undefined for words that nobody has seen. Pure. */
export function whyNoSandbox(words: string, settings: KernelSettings): NoSandbox | undefined {
  return reasons.find(({ isIt }) => isIt(words, settings));
}

interface Reason extends NoSandbox {
  readonly isIt: (words: string, settings: KernelSettings) => boolean;
}

/** Words that bubblewrap has when a user namespace cannot be made or is made without rights in it. */
const noUserNamespace =
  /No permissions to creat|Creating new namespace failed|setting up uid map|Failed RTM_NEWADDR|Failed to make \/ slave|setting up gid map/;

const reasons: readonly Reason[] = [
  {
    aspect: "user-namespace",
    cause:
      "AppArmor restricts user namespaces to programs with a profile (kernel.apparmor_restrict_unprivileged_userns=1)",
    cure: "give /usr/bin/bwrap an AppArmor profile with `userns,` (Ubuntu: apt-get install apparmor-profiles, and load bwrap-userns-restrict), or sysctl -w kernel.apparmor_restrict_unprivileged_userns=0",
    isIt: (words, { appArmorRestriction }) => appArmorRestriction === "1" && noUserNamespace.test(words),
  },
  {
    aspect: "user-namespace",
    cause: "the kernel lets only root make user namespaces (kernel.unprivileged_userns_clone=0)",
    cure: "sysctl -w kernel.unprivileged_userns_clone=1, and a file in /etc/sysctl.d to keep it",
    isIt: (words, { unprivilegedUserNamespaces }) => unprivilegedUserNamespaces === "0" && noUserNamespace.test(words),
  },
  {
    aspect: "user-namespace",
    cause: "the kernel allows no user namespaces (user.max_user_namespaces=0)",
    cure: "sysctl -w user.max_user_namespaces=10000, and a file in /etc/sysctl.d to keep it; inside another sandbox, that one forbids it",
    isIt: (words, { maxUserNamespaces }) => maxUserNamespaces === "0" && noUserNamespace.test(words),
  },
  {
    aspect: "user-namespace",
    cause: "no further user namespace may be made: this process is in a sandbox that forbids it, or too many exist",
    cure: "start the host outside of that sandbox, or raise user.max_user_namespaces",
    isIt: (words) => /ENOSPC|No space left on device/.test(words) && /amespace/.test(words),
  },
  {
    aspect: "user-namespace",
    cause: "this process may not make a user namespace, or has no rights in it",
    cure: "in a container, allow it: docker run --security-opt seccomp=unconfined --security-opt apparmor=unconfined; else see user.max_user_namespaces and the security modules of the kernel",
    isIt: (words) => noUserNamespace.test(words),
  },
  {
    aspect: "pid-namespace",
    cause: "a new /proc cannot be mounted, because parts of this container's own are hidden",
    cure: "start the container with its /proc unmasked: docker run --security-opt systempaths=unconfined; podman run --security-opt unmask=ALL",
    isIt: (words) => /Can't mount proc/i.test(words),
  },
  {
    aspect: "user-namespace",
    cause:
      "the root of this machine is its first file system in memory (an initramfs), which nothing can take the place of",
    cure: "switch to another root first (switch_root)",
    isIt: (words) => /pivot_root: Invalid argument/.test(words),
  },
  {
    aspect: "bubblewrap",
    cause: "root of this machine or container may not make a mount namespace, so that the devices cannot be protected",
    cure: "run the host as an ordinary user, or give the container CAP_SYS_ADMIN (docker run --cap-add SYS_ADMIN)",
    isIt: (words) => /cannot protect \/dev/.test(words),
  },
  {
    aspect: "seccomp",
    cause: "the kernel takes no seccomp filter",
    cure: "use a kernel with CONFIG_SECCOMP_FILTER",
    isIt: (words) => /SECCOMP/.test(words),
  },
  {
    aspect: "bubblewrap",
    cause: "this bubblewrap lacks an option that is needed",
    cure: "install bubblewrap 0.7 or newer",
    isIt: (words) => /Unknown option/.test(words),
  },
];
