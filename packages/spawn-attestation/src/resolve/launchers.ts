import { AttestationError } from "../errors.js";
import { printable } from "../measure/byte-path.js";

/** Programs that fetch, choose or contain the code that runs, so that nothing on disk could be pinned beforehand. */
interface Launcher {
  readonly names: readonly string[];
  readonly why: string;
  readonly advice: (args: readonly string[]) => string;
}

const npmAdvice = (args: readonly string[]): string => {
  const named = packageIn(args) ?? "PACKAGE";
  return (
    `install it once (npm install ${named}) and run its file: "command": "node", "args": ["node_modules/${bare(named)}/…/index.js"]; ` +
    `the "bin" member of its package.json names the file, and node_modules/.bin/NAME works as command too`
  );
};

const toolAdvice = (args: readonly string[]): string => {
  const named = packageIn(args) ?? "PACKAGE";
  return `install it once (python3 -m venv DIR && DIR/bin/pip install ${named}, or uv tool install ${named}) and write the script of that environment in command: "DIR/bin/NAME"`;
};

const projectAdvice = (): string =>
  'run the environment\'s own interpreter: "command": "PROJECT/.venv/bin/python", "args": ["PROJECT/server.py"]';

const wrapperAdvice = (): string => "write the program that it starts in command, and its arguments in args";

const launchers: readonly Launcher[] = [
  {
    names: ["npx", "npm", "pnpm", "pnpx", "yarn", "yarnpkg", "bunx", "corepack"],
    why: "it looks up or fetches the package when it starts",
    advice: npmAdvice,
  },
  {
    names: ["npx-cli.js", "npm-cli.js", "pnpm.cjs", "pnpx.cjs", "pnpm.mjs", "yarn.js", "yarn.cjs", "corepack.js"],
    why: "it looks up or fetches the package when it starts",
    advice: npmAdvice,
  },
  { names: ["uvx", "pipx"], why: "it looks up or fetches the package when it starts", advice: toolAdvice },
  {
    names: ["uv", "poetry", "pipenv", "pdm", "hatch", "rye", "conda", "mamba", "micromamba", "pixi"],
    why: "it chooses and may change the environment when it starts",
    advice: projectAdvice,
  },
  {
    names: ["docker", "podman", "nerdctl", "docker-compose", "podman-compose", "kubectl", "flatpak", "snap"],
    why: "what runs is inside an image, not a file on this machine",
    advice: () => "run the server's own program instead of the container, as command and args",
  },
  {
    names: ["ssh", "wsl", "wsl.exe", "nc", "ncat", "socat", "mcp-remote", "supergateway"],
    why: "what runs is on another machine",
    advice: () => 'use the server over the network: "transport": "streamable-http" with its url and tlsFingerprint',
  },
  {
    names: ["cmd", "cmd.exe", "powershell", "powershell.exe", "pwsh", "osascript"],
    why: "it runs a command line of its own",
    advice: wrapperAdvice,
  },
  {
    names: ["mise", "asdf", "pyenv", "rbenv", "nodenv", "volta", "fnm", "nvm", "direnv", "nix", "nix-shell", "devbox"],
    why: "it chooses the program when it starts",
    advice: () =>
      "write the real program in command: ask the version manager once (pyenv which NAME, mise which NAME, volta which NAME)",
  },
  {
    names: ["tsx", "ts-node", "ts-node-esm", "nodemon", "pm2", "forever", "concurrently"],
    why: "it runs another script by rules of its own",
    advice: () => 'compile the server and run it with "command": "node", or with node --import tsx SCRIPT',
  },
  {
    names: ["make", "just", "task", "go", "cargo", "gradle", "mvn", "dotnet-script", "rake", "bundle"],
    why: "it builds or chooses the program when it starts",
    advice: () => "build the server once and write the built program in command",
  },
  {
    names: [
      ...["sudo", "doas", "su", "runuser", "nohup", "nice", "ionice", "timeout", "time", "stdbuf", "setsid", "xargs"],
      ...["xvfb-run", "dotenv", "cross-env", "firejail", "bwrap", "unshare", "nsenter", "setpriv", "prlimit", "flock"],
      ...[
        "systemd-run",
        "busybox",
        "toybox",
        "chroot",
        "proot",
        "strace",
        "ltrace",
        "gdb",
        "wine",
        "script",
        "parallel",
      ],
      ...["chpst", "tini", "dumb-init", "gosu", "taskset", "numactl", "watch", "unbuffer", "expect", "qemu-x86_64"],
    ],
    why: "it starts another program, which would not be measured",
    advice: wrapperAdvice,
  },
];

/** The dynamic loader, called by hand to run a program. */
const loader = /^ld-.+\.so(?:\.\d+)*$/;

/**
 * Refuses programs whose command line leads to nothing on disk that could be measured.
 * @throws {AttestationError} `LAUNCHER_WITHOUT_TARGET`
 */
export function refuseLauncher(names: readonly string[], args: readonly string[]): void {
  for (const name of names) {
    const found = launchers.find((launcher) => launcher.names.includes(name));
    if (found !== undefined) throw refusal(name, found.why, found.advice(args));
    if (loader.test(name)) throw refusal(name, "it loads another program", wrapperAdvice());
  }
}

/** The refusal for an interpreter's own way to run something by name, such as `bun x` or `deno task`. */
export function namedRefusal(program: string, word: string): AttestationError {
  return refusal(
    `${program} ${word}`,
    "it runs something by a name of its own",
    "write the script file itself in args",
  );
}

function refusal(what: string, why: string, advice: string): AttestationError {
  return new AttestationError(
    "LAUNCHER_WITHOUT_TARGET",
    `${printable(what)} has no target on disk that could be measured: ${why}`,
    { advice },
  );
}

/** Options of npx, uvx and pipx that take the next word, before the package is named. */
const takesNext: ReadonlySet<string> = new Set(["-c", "--call", "--python", "--index-url", "--with", "-w", "--cache"]);
const namesPackage: ReadonlySet<string> = new Set(["-p", "--package", "--from", "--spec"]);
const subcommands: ReadonlySet<string> = new Set([
  "exec",
  "x",
  "dlx",
  "run",
  "tool",
  "install",
  "create",
  "init",
  "start",
]);

/** The package that the command line names, for the advice only. */
function packageIn(args: readonly string[]): string | undefined {
  for (let index = 0; index < args.length; index += 1) {
    const word = args[index] ?? "";
    if (namesPackage.has(word)) return safe(args[index + 1] ?? "");
    if (takesNext.has(word)) index += 1;
    else if (!word.startsWith("-") && !subcommands.has(word)) return safe(word);
  }
  return undefined;
}

const bare = (name: string): string => name.replace(/(?<=.)@[^/]*$/, "");

/** Only what looks like a package name or requirement goes into a line that a person may paste into a shell. */
function safe(name: string): string | undefined {
  return /^[@A-Za-z0-9][@\w./+=:[\],-]{0,200}$/.test(name) ? name : undefined;
}
