import { statSync } from "node:fs";
import { ConfinementError } from "../errors.js";
import type { ConfinementHost } from "./host.js";

/** What goes before the shell that becomes bubblewrap, and what that shell does first. */
export interface DeviceGuard {
  readonly before: readonly string[];
  readonly steps: readonly string[];
}

// A tool may take an option and not heed it.
const lookAgain = "[ ! -w /dev ]";

/**
 * Keeps a sandbox of root from changing the devices of the machine for everybody: `/dev/null` inside is the machine's own, and
 * who owns it outside may change its mode, whatever rights it has inside. bubblewrap's binds of devices inherit that the tree
 * they come from is read-only; made read-only by bubblewrap itself they could not be opened any more. A device on a read-only
 * mount can be written to all the same. With what lies below it and all that may be switched off: inside of a user namespace
 * the kernel permits no less.
 * @throws {ConfinementError} `CONFINEMENT_UNAVAILABLE`.
 */
export function guardDevices(
  isOwner: boolean,
  { arch, findTool }: Pick<ConfinementHost, "arch" | "findTool">,
): DeviceGuard {
  if (!isOwner) return { before: [], steps: [] };
  const numbers = systemCalls.get(arch);
  const perl = findTool("perl");
  // 1.5 ms where the two programs of util-linux take 4.
  if (perl !== undefined && numbers !== undefined)
    return { before: [perl, "-e", perlGuard(numbers), "--"], steps: [lookAgain] };
  const [unshare, mount] = ["unshare", "mount"].map(findTool);
  if (unshare !== undefined && mount !== undefined)
    return { before: [unshare, "--mount", "--"], steps: [`${mount} --rbind -o ro,nosuid,noexec /dev /dev`, lookAgain] };
  throw new ConfinementError("CONFINEMENT_UNAVAILABLE", "a sandbox of root needs perl, or unshare and mount", {
    cure: "install one of them: apt-get install perl-base",
  });
}

interface CallNumbers {
  readonly unshare: number;
  readonly mount: number;
}

/** arch/x86/entry/syscalls/syscall_64.tbl and include/uapi/asm-generic/unistd.h. */
const systemCalls: ReadonlyMap<string, CallNumbers> = new Map([
  ["x64", { unshare: 272, mount: 165 }],
  ["arm64", { unshare: 97, mount: 40 }],
]);

/** No modules. Strings are variables: Perl passes no literal to a system call. mount(2): REC|PRIVATE, REC|BIND, then REMOUNT|BIND|RDONLY|NOSUID|NOEXEC. */
function perlGuard({ unshare, mount }: CallNumbers): string {
  const calls = [
    `syscall(${unshare}, 0x20000)`,
    `syscall(${mount}, $none, $root, 0, 0x44000, 0)`,
    `syscall(${mount}, $dev, $dev, 0, 0x5000, 0)`,
    `syscall(${mount}, 0, $dev, 0, 0x102b, 0)`,
  ];
  const made = calls.map((call) => `${call} == 0 or die "cannot protect /dev: $!\\n";`).join(" ");
  return `my ($none, $root, $dev) = ("none", "/", "/dev"); ${made} exec {$ARGV[0]} @ARGV; die "cannot execute: $!\\n";`;
}

/** In a container whose root is somebody else outside, the devices belong to nobody. */
export function ownsDevices(): boolean {
  return statSync("/dev/null").uid === process.getuid?.();
}
