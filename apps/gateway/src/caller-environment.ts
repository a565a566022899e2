import { delimiter } from "node:path";

type Variables = Readonly<Record<string, string | undefined>>;

/** What npm puts first on PATH for one command, and some people in a shell of their own. */
const npmFolder = /[\\/](?:node_modules[\\/]\.bin|node-gyp-bin)[\\/]*$/u;

/**
 * The environment in which servers' programs are looked for: without the folders that `npx` and `npm run` put on PATH for one
 * command. A `node` in one of them would be pinned, and not be found by the client that starts the gateway later. This does not
 * depend on npm's variables: clients pass PATH on to a gateway, and drop those.
 */
export function callerEnvironment(variables: Variables): Variables {
  if (foldersOfNpm(variables).length === 0) return variables;
  const kept = pathOf(variables).filter((folder) => !npmFolder.test(folder));
  return { ...variables, PATH: kept.join(delimiter) };
}

/** The folders of PATH that are left out. */
export function foldersOfNpm(variables: Variables): string[] {
  return pathOf(variables).filter((folder) => npmFolder.test(folder));
}

function pathOf(variables: Variables): string[] {
  return (variables["PATH"] ?? "").split(delimiter);
}
