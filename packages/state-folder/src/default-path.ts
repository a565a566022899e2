import { homedir } from "node:os";
import { isAbsolute, join } from "node:path";

/**
 * Where a program keeps its state unless it is told otherwise: `$XDG_STATE_HOME/NAME`, or `~/.local/state/NAME` where that
 * is unset, empty or relative (XDG Base Directory Specification 0.8). Nothing is made or looked at.
 */
export function defaultStatePath(name: string, environment: Readonly<Record<string, string | undefined>>): string {
  const base = environment["XDG_STATE_HOME"];
  const home = environment["HOME"] ?? homedir();
  return join(base !== undefined && isAbsolute(base) ? base : join(home, ".local", "state"), name);
}
