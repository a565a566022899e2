/**
 * The supervisor where Perl is absent (Alpine, minimal images): a POSIX shell that waits for `go` and then becomes the
 * command, after it has left a watcher in the command's process group. Same channel on descriptor 3, same words. What it
 * cannot do is in README § Launchers: no argv[0] of its own, no odd names in the environment, no errno of a failed exec.
 *
 * The watcher pins the number of the group as long as it lives, and kills the group, itself included, at the end of the
 * channel. Its parent exits at once, so that the command does not find a child that it never started.
 * Arguments: FILE ARGS…; the environment is the command's. UNSET names what the shell itself adds to it.
 */
export const shellSupervisor = `
echo "ready $$ - $$" >&3
read -r word <&3 && [ "$word" = go ] || exit 125
(
  (
    trap '' TERM INT HUP
    while read -r word <&3; do kill -s "$word" 0; done
    kill -s KILL 0
  ) </dev/null >/dev/null 2>&1 &
)
unset word
for name in $UNSET; do unset "$name"; done
unset name UNSET
echo started >&3
exec "$@" 3>&-
`;
