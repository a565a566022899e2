import { type Command, examplesText, type Finish, Option, runProgram } from "@berth/command-line";
import { defaultHttp } from "./serving/http-door.js";
import { usualStatePath } from "./state-folder.js";
import { version } from "./version.js";

/** Reads the command line, runs the command, and ends the process with its exit code. */
export function main(argv: readonly string[]): Promise<void> {
  return runProgram(
    {
      name: "berth-plugin-host",
      description: "Runs plugins: existing Python CPEX ones unchanged, and executables in any language, confined.",
      version,
      commands: [addInvoke, addServe, addVenv, addCheck, addNew, addAudit],
    },
    argv,
  );
}

const configOption = (): Option => new Option("--config <file>", "plugins.yaml").makeOptionMandatory();
const stateOption = (): Option =>
  new Option("--state <dir>", "state folder").default(usualStatePath(), "the XDG state folder, berth-plugin-host");
const jsonOption = (): Option => new Option("--json", "print the result as JSON");

/** How environments are made. */
function withStore(command: Command): Command {
  return command
    .addOption(stateOption())
    .addOption(new Option("--installer <name>", "what installs requirements").choices(["auto", "uv", "pip"]))
    .option("--index <url>", "take distributions from this index")
    .option("--wheels <dir...>", "take distributions from these folders of wheels only, without a network")
    .option("--require-hashes", "refuse requirements that are not named with their hashes")
    .option("--only-wheels", "refuse source distributions, whose code is run to build them")
    .option("--confine-installs", "with --wheels: install nothing where no sandbox holds (default: warn, and install)")
    .option("--no-confine-installs", "run installers without a sandbox");
}

/** Whose plugins, and where their code is. */
function withPlugins(command: Command): Command {
  return withStore(command.addOption(configOption()))
    .option("--cwd <dir>", "the folder whose `plugins` holds the plugins' code (default: this one)")
    .addOption(
      new Option("--log <level>", "debug shows what plugins print").choices([
        "debug",
        "info",
        "warn",
        "error",
        "silent",
      ]),
    );
}

function addInvoke(program: Command, finish: Finish): void {
  const command = program
    .command("invoke")
    .description("run one hook over the plugins of a file; exit code 3 when a plugin denies")
    .argument("<hook>", "such as tool_pre_invoke")
    .requiredOption("--payload <file>", "the hook's payload as JSON; - is standard input")
    .option("--context <file>", "the request as JSON: requestId, user, tenantId, serverId, …; - is standard input")
    .option("--extensions <file>", "its extensions as JSON: http, security, custom, …; - is standard input")
    .option("--credentials <file>", "its tokens as JSON, for plugins that may have them; - is standard input");
  withPlugins(command)
    .addOption(jsonOption())
    .addHelpText(
      "after",
      examplesText([
        "berth-plugin-host invoke tool_pre_invoke --config plugins.yaml --payload call.json",
        `echo '{"name":"add","args":{"a":1}}' | berth-plugin-host invoke tool_pre_invoke --config plugins.yaml --payload - --json`,
      ]),
    )
    .action(async (hook: string, options) => {
      const { invokeCommand } = await import("./commands/invoke.js");
      finish(await invokeCommand(hook, { ...options, logLevel: options.log }));
    });
}

function addServe(program: Command, finish: Finish): void {
  const command = program
    .command("serve")
    .description(
      "keep plugins running, run their hooks, and serve their tools: JSON-RPC or MCP on standard input and output, or both over HTTP",
    );
  withPlugins(command)
    .option("--stdio", "one message a line on standard input and output: MCP, or JSON-RPC, as the client begins")
    .option("--http <host:port>", `listen: JSON-RPC at /rpc, MCP at /mcp, such as ${defaultHttp}`)
    .option("--token-file <file>", "with --http: only who has a token of this file; see `token`")
    .option("--allowed-host <name...>", "with --http: names of this machine that clients may use beside localhost")
    .addHelpText(
      "after",
      examplesText(
        [
          "berth-plugin-host serve --config plugins.yaml --stdio",
          "berth-plugin-host serve --config plugins.yaml --http 127.0.0.1:0",
        ],
        'With --http readiness is one JSON line on stderr: {"event":"listening","url":"http://127.0.0.1:8223/mcp"}.',
      ),
    )
    .action(async (options) => {
      const { serveCommand } = await import("./commands/serve.js");
      finish(await serveCommand({ ...options, logLevel: options.log }));
    });
  addToken(program, finish);
}

function addToken(program: Command, finish: Finish): void {
  program
    .command("token")
    .description("make a token for somebody; its hash goes into the file that serve --token-file names")
    .argument("<name>", "whose it is, as the log names them")
    .requiredOption("--file <file>", "the token file")
    .option("--days <count>", "how long it is good (default: 90)")
    .addOption(jsonOption())
    .addHelpText("after", examplesText(["berth-plugin-host token ada --file /etc/berth/tokens.jsonl --days 30"]))
    .action(async (name: string, options) => {
      const { tokenCommand } = await import("./commands/token.js");
      finish(await tokenCommand(name, options));
    });
}

function addAudit(program: Command, finish: Finish): void {
  const audit = program
    .command("audit")
    .description("what ran, what each plugin decided, how calls ended; and whether that log is whole");
  audit
    .command("tail")
    .description("the newest entries of the logs of a state folder, oldest first, while hosts run too")
    .option("-n, --lines <count>", "how many, or all (default: 20; all with --json)")
    .option("--plugin <name>", "only what is about this plugin")
    .addOption(stateOption())
    .addOption(new Option("--json", "print each entry whole, as JSON on a line"))
    .addHelpText(
      "after",
      examplesText(["berth-plugin-host audit tail", "berth-plugin-host audit tail --plugin pii-filter --lines all"]),
    )
    .action(async (options) => {
      const { auditTailCommand } = await import("./commands/audit.js");
      finish(await auditTailCommand(options));
    });
  audit
    .command("verify")
    .description("check every log of a state folder, as `berth-audit verify` does; 1 when one does not verify")
    .option("--strict", "also check that each entry is in canonical form")
    .addOption(stateOption())
    .addOption(jsonOption())
    .addHelpText("after", examplesText(["berth-plugin-host audit verify", "berth-plugin-host audit verify --json"]))
    .action(async (options) => {
      const { auditVerifyCommand } = await import("./commands/audit.js");
      finish(await auditVerifyCommand(options));
    });
}

function addCheck(program: Command, finish: Finish): void {
  program
    .command("check")
    .description(
      "try a process plugin in a temporary copy: manifest, sandbox, transcript, end; exit code 1 when something does not hold",
    )
    .argument("<dir>", "the plugin's folder")
    .addOption(
      new Option(
        "--prepare <command>",
        "run this in the copy first, with your rights and outside of any sandbox; words are separated by spaces, there is no shell (default: prepare of check.json)",
      ),
    )
    .option("--no-prepare", "run none, whatever check.json says")
    .option("--record", "write the transcript to expected.jsonl in the folder, instead of comparing with it")
    .option(
      "--escapes",
      "also try to get out; the controls of the attempts run outside of the sandbox, with your rights",
    )
    .option(
      "--interpreter <path...>",
      "interpreters outside /usr that the plugin needs, such as /opt/python/bin/python3",
    )
    .option("--allow-unconfined", "run it without a sandbox: for development")
    .option("--verbose", "show what the plugin logs")
    .addOption(jsonOption())
    .addHelpText(
      "after",
      examplesText([
        "berth-plugin-host check ./my-plugin",
        "berth-plugin-host check ./my-plugin --record",
        "berth-plugin-host check ./my-plugin --escapes --json",
        'berth-plugin-host check ./my-plugin --prepare "make"',
      ]),
    )
    .action(async (folder: string, options) => {
      const { checkCommand } = await import("./commands/check.js");
      finish(await checkCommand(folder, options));
    });
}

function addNew(program: Command, finish: Finish): void {
  program
    .command("new")
    .description("write a process plugin that works, with its transcript")
    .argument("<name>", "lower-case letters, digits and dashes")
    .addOption(
      new Option("--lang <language>", "what it is written in")
        .choices(["python", "typescript", "shell"])
        .makeOptionMandatory(),
    )
    .option("--dir <dir>", "where it goes (default: a folder of its name)")
    .addOption(jsonOption())
    .addHelpText(
      "after",
      examplesText(["berth-plugin-host new my-plugin --lang python", "berth-plugin-host check my-plugin"]),
    )
    .action(async (name: string, options) => {
      const { newCommand } = await import("./commands/new.js");
      finish(await newCommand(name, options));
    });
}

function addVenv(program: Command, finish: Finish): void {
  const venv = program.command("venv").description("the environments of plugins");
  venv
    .command("list")
    .description("what is in the store, whether it is whole, who uses it")
    .addOption(stateOption())
    .addOption(jsonOption())
    .addHelpText("after", examplesText(["berth-plugin-host venv list", "berth-plugin-host venv list --json"]))
    .action(async (options) => {
      const { venvListCommand } = await import("./commands/venv-list.js");
      finish(await venvListCommand(options));
    });
  withPlugins(venv.command("build"))
    .description(
      "make the environments of the plugins of a file now, start each plugin's worker once, and import its class: that runs its module's code",
    )
    .argument("[plugin...]", "only these")
    .addOption(jsonOption())
    .addHelpText(
      "after",
      examplesText([
        "berth-plugin-host venv build --config plugins.yaml",
        "berth-plugin-host venv build pii-filter --config plugins.yaml --wheels ./wheels",
      ]),
    )
    .action(async (plugins: string[], options) => {
      const { venvBuildCommand } = await import("./commands/venv-build.js");
      finish(await venvBuildCommand(plugins, { ...options, logLevel: options.log }));
    });
  venv
    .command("gc")
    .description("remove environments that nobody holds and that are old, or more than may be kept")
    .addOption(stateOption())
    .option("--unused-days <count>", "not used for so long (default: 30, without --max-bytes)")
    .option("--max-bytes <count>", "the least recently used, until all take at most so much")
    .option("--dry-run", "say what would go, and remove nothing")
    .addOption(jsonOption())
    .addHelpText(
      "after",
      examplesText(["berth-plugin-host venv gc --dry-run", "berth-plugin-host venv gc --max-bytes 5000000000"]),
    )
    .action(async (options) => {
      const { venvGcCommand } = await import("./commands/venv-gc.js");
      finish(await venvGcCommand(options));
    });
  withPlugins(venv.command("doctor"))
    .description(
      "what keeps plugins from running, and what to do about it; where an environment is built the plugin's class is imported, which runs its module's code; exit code 0 when serve would start",
    )
    .addOption(jsonOption())
    .addHelpText("after", examplesText(["berth-plugin-host venv doctor --config plugins.yaml"]))
    .action(async (options) => {
      const { venvDoctorCommand } = await import("./commands/venv-doctor.js");
      finish(await venvDoctorCommand({ ...options, logLevel: options.log }));
    });
}
