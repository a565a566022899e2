/**
 * The first process inside when the command does not speak the handshake itself. bubblewrap's own parent-death option leaks
 * a whole sandbox when the host dies during set-up; a command that waits for its host's word until set-up is over does not:
 * a dead host's word never comes. While it runs, 3 is the host's word and 4 is ours: `r` ready, then the end of the stream
 * when the command was executed, or `x` and the shell's status when it could not be.
 */
export const startScript: string = [
  "trap 'echo x $? >&4' EXIT",
  "echo r >&4",
  'read g <&3 && [ "$g" = go ] || exit 125',
  "exec 3<&-",
  // The shell keeps its own copy of 4 for the trap, close-on-exec.
  'exec "$@" 4>&-',
].join("\n");
