import { delimiter } from "node:path";

type Variables = Readonly<Record<string, string | undefined>>;

/** Set by npm, and by the others that run scripts as npm does, for what they start. */
const setByNpm = ["npm_execpath", "npm_command", "npm_lifecycle_event"] as const;
/** What they put first on PATH for it. */
const npmFolder = /[\\/](?:node_modules[\\/]\.bin|node-gyp-bin)[\\/]*$/u;

/**
 * The environment as a client would have it: without the folders that `npx` and `npm run` put on PATH for one command. A `node` in
 * one of them would be pinned, and not be found by the client that starts the gateway later.
 */
export function callerEnvironment(variables: Variables): Variables {
  if (foldersOfNpm(variables).length === 0) return variables;
  const kept = pathOf(variables).filter((folder) => !npmFolder.test(folder));
  return { ...variables, PATH: kept.join(delimiter) };
}

/** The folders that npm put on PATH for this command; none when npm did not start it. */
export function foldersOfNpm(variables: Variables): string[] {
  if (setByNpm.every((name) => variables[name] === undefined)) return [];
  return pathOf(variables).filter((folder) => npmFolder.test(folder));
}

/** Whether a program lies where only npm, or a project's own shell, looks. */
export function isInNpmFolder(file: string): boolean {
  return npmFolder.test(file.replace(/[^\\/]+$/u, ""));
}

function pathOf(variables: Variables): string[] {
  return (variables["PATH"] ?? "").split(delimiter);
}
