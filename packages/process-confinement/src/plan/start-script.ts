import { egressPort } from "./forwarder.js";

/** What the first process inside has to do before it becomes the command. */
export interface StartDuties {
  /** Who speaks the handshake: this process, the command, or this process before it is told of a command (`handed`). */
  readonly handshake: "shell" | "command" | "handed";
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
  if (handshake === "command" && forwarder === undefined) return [];
  const lines = [...(forwarder === undefined ? [] : startForwarder(forwarder)), ...handshakes[handshake]];
  return ["/bin/sh", "-c", lines.join("; "), "sh"];
}

const sayReady: readonly string[] = ["trap 'echo x $? >&4' EXIT", "echo r >&4"];
const closeWord = "exec 3<&-";

// The shell keeps its own copy of 4 for the trap, close-on-exec.
const become = (command: string): string => `exec ${command} 4>&-`;

const handshakes: Readonly<Record<StartDuties["handshake"], readonly string[]>> = {
  shell: [...sayReady, 'read g <&3 && [ "$g" = go ] || exit 125', closeWord, become('"$@"')],
  command: ['exec "$@"'],
  // Half a line, of a host that died, counts as none.
  handed: [...sayReady, 'IFS= read -r line <&3 && eval "$line"', "exit 125"],
};

/** What the first process inside becomes when the command is handed over. */
export interface HandedCommand {
  readonly program: readonly string[];
  readonly env: readonly (readonly [string, string])[];
  readonly cwd: string;
}

/**
 * The host's word that hands a command over: a line, of which the shell inside becomes the command. Nothing of it is in a
 * command line but the command's own arguments. Undefined for what a shell would not hand on as it is. Pure.
 */
export function handOver({ program, env, cwd }: HandedCommand): string | undefined {
  if (env.some(([name]) => shellsOwn.test(name))) return undefined;
  const variables = env.map(([name, value]) => `${name}=${quote(value)}`);
  const steps = [
    // By bubblewrap the command has PWD and no OLDPWD.
    `cd ${quote(cwd)} && unset OLDPWD`,
    ...(variables.length === 0 ? [] : [`export ${variables.join(" ")}`]),
    closeWord,
    become(program.map(quote).join(" ")),
  ];
  const line = steps.join(" && ");
  return isPlainLine(line) ? line : undefined;
}

/** Variables to which some shell gives a meaning of its own when they are set. */
const shellsOwn =
  /^(_|IFS|PWD|OLDPWD|OPTIND|OPTARG|OPTERR|PPID|LINENO|RANDOM|SECONDS|SRANDOM|UID|EUID|GROUPS|SHLVL|SHELLOPTS|DIRSTACK|FUNCNAME|HISTCMD|POSIXLY_CORRECT|(BASH|EPOCH|COMP_).*)$/;

/** A shell reads its line byte by byte, and not every shell reads every byte as it is. */
const maxLineLength = 4_096;
const plainText = /^[\x20-\x7e]*$/;

/** Whether a shell can be given this line. Pure. */
export function isPlainLine(line: string): boolean {
  return line.length <= maxLineLength && plainText.test(line);
}

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
