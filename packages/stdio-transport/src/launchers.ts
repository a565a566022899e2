import type { Containment } from "./child-handle.js";
import type { HostSystem } from "./host-system.js";
import { perlSupervisor } from "./supervisor-perl.js";
import { shellSupervisor } from "./supervisor-shell.js";
import { type SystemCallNumbers, systemCallNumbers, unshareFlags } from "./system-calls.js";

/** One way to start a supervisor, which then starts the command. */
export interface Launcher {
  readonly supervisor: "perl" | "sh";
  /** What it must turn out to hold; a launcher that does not is given up for the next one. */
  readonly containment: Containment;
  readonly file: string;
  readonly args: readonly string[];
}

/** What there is to try, best first, and why it is not more. */
export interface LauncherChoice {
  readonly launchers: readonly Launcher[];
  readonly missing: readonly string[];
}

/** Whether a launcher works is seen when it is tried. */
export function chooseLaunchers(host: HostSystem, wanted: "auto" | "group"): LauncherChoice {
  const perl = host.findTool("perl");
  if (perl === undefined) {
    const missing = ["perl is missing (Debian: perl-base): no pid namespace, and what leaves the group is not ended"];
    return { launchers: [{ supervisor: "sh", containment: "group", ...shell }], missing };
  }
  const calls = host.platform === "linux" ? systemCallNumbers(host.arch) : undefined;
  const launcher = (containment: Containment, flags: number): Launcher => {
    const { prctl, unshare, mount, execve } = calls ?? noCalls;
    const numbers = [prctl, unshare, mount, execve, flags].map(String);
    return { supervisor: "perl", containment, file: perl, args: ["-f", "-e", perlSupervisor, ...numbers] };
  };
  if (wanted === "group") return { launchers: [launcher("group", 0)], missing: [] };
  if (calls === undefined) {
    const missing = [`pid namespaces are made on Linux with 64 bits only, not on ${host.platform} ${host.arch}`];
    return { launchers: [launcher("group", 0)], missing };
  }
  const { pid, mount, user } = unshareFlags;
  const flags = host.uid === 0 ? pid | mount : pid | mount | user;
  return { launchers: [launcher("namespace", flags), launcher("group", 0)], missing: [] };
}

/** Perl then makes none of them. */
const noCalls: SystemCallNumbers = { prctl: 0, unshare: 0, mount: 0, execve: 0 };

const shell = { file: "/bin/sh", args: ["-c", shellSupervisor, "sh"] } as const;
