import { egressPort } from "./forwarder.js";

/** What the first process inside has to do before it becomes the command. */
export interface StartDuties {
  /** Speak the handshake; else the command does. */
  readonly handshake: boolean;
  /** Program and arguments of the forwarder to start beside the command. */
  readonly forwarder: readonly string[] | undefined;
}

/**
 * Program and arguments that stand before the command; empty when there is nothing to do. Pure.
 *
 * bubblewrap's own parent-death option leaks a whole sandbox when the host dies during set-up; a process that waits for its
 * host's word until set-up is over does not: a dead host's word never comes. Meanwhile 3 is the host's word and 4 is ours: `r`
 * ready, then the end of the stream when the command was executed, or `x` and the shell's status when it could not be.
 */
export function startCommand({ handshake, forwarder }: StartDuties): readonly string[] {
  if (!handshake && forwarder === undefined) return [];
  const lines = [
    ...(forwarder === undefined ? [] : startForwarder(forwarder)),
    ...(handshake ? speakHandshake : ['exec "$@"']),
  ];
  return ["/bin/sh", "-c", lines.join("; "), "sh"];
}

const speakHandshake: readonly string[] = [
  "trap 'echo x $? >&4' EXIT",
  "echo r >&4",
  'read g <&3 && [ "$g" = go ] || exit 125',
  "exec 3<&-",
  // The shell keeps its own copy of 4 for the trap, close-on-exec.
  'exec "$@" 4>&-',
];

/** Beside the command, as a child of process 1, so that a command that waits for its children does not wait for it. */
function startForwarder(forwarder: readonly string[]): readonly string[] {
  const program = forwarder.map(quote).join(" ");
  return [
    `( ${program} </dev/null >/dev/null 2>&1 3<&- 4>&- & )`,
    // A first connect of the command must not come too early.
    `up() { while read -r _ l _ s _; do [ "$l $s" = "${listening}" ] && return; done </proc/net/tcp; return 1; }`,
    "until up; do command -p sleep 0.005; done",
  ];
}

/** Address, port and state of the forwarder's socket in /proc/net/tcp (proc(5)), whose numbers are little-endian. */
const listening = `0100007F:${egressPort.toString(16).toUpperCase().padStart(4, "0")} 0A`;

/** One word of a shell's command line that means the text itself. */
export function quote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
