import type { WorkerOptions } from "./worker.js";

/*
 * The limit is set by the interpreter itself before it loads anything else: that needs no program of this machine, works
 * as well in a sandbox, and binds what the worker starts. It is 1 and not 0, since the kernel gives a process with the
 * limit 0 still to a program where the core pattern begins with a pipe, and one with the limit 1 to nobody (core(5),
 * fs/coredump.c). The folder of the script takes the place of the working folder first, as when Python is given the
 * script: a `resource.py` that lies there is not meant.
 */
const withoutCore = `import sys
del sys.argv[0]
if sys.path[0] == "": sys.path[0] = sys.argv[0].rpartition("/")[0]
import resource, runpy
try: resource.setrlimit(resource.RLIMIT_CORE, (1, 1))
except (OSError, ValueError): resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
runpy.run_path(sys.argv[0], run_name="__main__")
`;

/** The command of a worker, before it is confined. */
export function workerArgv(options: Pick<WorkerOptions, "python" | "script" | "holdsSecrets">): readonly string[] {
  const { python, script, holdsSecrets } = options;
  return holdsSecrets === true ? [python, "-c", withoutCore, script] : [python, script];
}
