/**
 * A command of the shell that becomes bubblewrap: a watcher beside it until set-up is over.
 *
 * bubblewrap's parent process dies with its host, or of a write to it, and its child waits for the parent's word in an
 * eventfd, whose end nobody tells: killed between the two, bubblewrap leaves a process for ever. At that time it is still in the
 * process group that the host made. Later it is not, and waits for the host's word instead, whose end it does see.
 *
 * 8 is the lifeline: `go` ends the watcher, and its end without a word everything in the group, the watcher included. `go FILE`
 * makes it wait for the end as well: what the host has frozen in version 1 cannot die, so that it has to be thawed when the host is
 * killed. Of the other pipes the watcher keeps none, so that their ends can be seen.
 */
export const watchSetUp: string =
  '{ ( read -r g file <&8; [ "$g" = go ] || kill -s KILL 0; [ -z "$file" ] || { read -r g <&8; echo THAWED >"$file"; } ) </dev/null >/dev/null 2>&1 3<&- 4>&- 5<&- 6>&- 7<&- & } && exec 8<&-';
