/**
 * Programs that fetch or choose code when they start, so that no file on disk can be measured beforehand, and what to write
 * in the catalog instead. The measuring package decides at spawn; this only tells a person early.
 */
const fetchers: readonly { readonly names: readonly string[]; readonly advice: (subject: string) => string }[] = [
  {
    names: ["npx", "bunx", "pnpx"],
    advice: (subject) =>
      `install it in a folder of its own (npm install ${subject}) and start its script: command "node", args ["FOLDER/node_modules/…/index.js"]`,
  },
  {
    names: ["uvx", "pipx"],
    advice: (subject) =>
      `install it (uv tool install ${subject}, or a virtual environment) and start the installed command`,
  },
  {
    names: ["docker", "podman", "nerdctl"],
    advice: () =>
      "an image is no file that can be measured here: run the server itself, or keep this entry in the client",
  },
  {
    names: ["sh", "bash", "zsh", "dash", "cmd", "cmd.exe", "powershell", "pwsh"],
    advice: () => "start the program itself in place of a shell line",
  },
];

/** Advice for an entry that would be refused when it is started, or undefined. */
export function launchAdvice(command: string, args: readonly string[]): string | undefined {
  const program =
    command
      .split(/[\\/]/u)
      .at(-1)
      ?.replace(/\.(?:cmd|exe)$/u, "") ?? command;
  const subject = args.find((argument) => !argument.startsWith("-") && !["run", "exec", "dlx", "x"].includes(argument));
  const fetcher = fetchers.find(({ names }) => names.includes(program));
  if (
    fetcher !== undefined &&
    (!isShell(program) || args.some((argument) => /^(?:-\w*c|\/[cC]|-Command)$/u.test(argument)))
  ) {
    return `${program} has no file that can be measured before it runs; ${fetcher.advice(subject ?? "PACKAGE")}`;
  }
  const runner = `${program} ${args[0] ?? ""}`;
  if (["npm exec", "npm x", "pnpm dlx", "pnpm exec", "yarn dlx", "bun x", "uv run", "uv tool"].includes(runner)) {
    return `${runner} has no file that can be measured before it runs; install the package and start its own file`;
  }
  return undefined;
}

function isShell(program: string): boolean {
  return ["sh", "bash", "zsh", "dash", "cmd", "powershell", "pwsh"].includes(program);
}
