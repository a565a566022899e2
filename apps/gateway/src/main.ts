import { type Command, examplesText, type Finish, Option, runProgram } from "@berth/command-line";
import { usualStatePath } from "./state-folder.js";
import { version } from "./version.js";

/** Reads the command line, runs the command, and ends the process with its exit code. */
export function main(argv: readonly string[]): Promise<void> {
  return runProgram(
    {
      name: "berth-gateway",
      description: "Starts only what was measured, and keeps a log of every call that can be checked.",
      version,
      commands: [addRun, addPin, addImport, addServe, addStatus, addAudit, addPlugins, addDoctor],
    },
    argv,
  );
}

const stateOption = (): Option =>
  new Option("--state <dir>", "state folder").default(usualStatePath(), "the XDG state folder, berth");
const configOption = (): Option => new Option("--config <file>", "gateway.yaml");
const envOption = (): Option =>
  new Option("--env <name>", "pass this variable of the gateway's environment to the server; may be repeated")
    .argParser((name: string, names: string[] | undefined) => [...(names ?? []), name])
    .default([], "none");
const ignoreOption = (): Option =>
  new Option("--measure-ignore <glob>", "leave these files of the server's folder out of the digest; may be repeated")
    .argParser((glob: string, globs: string[] | undefined) => [...(globs ?? []), glob])
    .default([], "none");

function addRun(program: Command, finish: Finish): void {
  program
    .enablePositionalOptions() // what follows the server's command is the server's
    .command("run")
    .description("start one server as a client would: pinned at first use, refused when it changed")
    .argument("<command>", "the server's program")
    .argument("[args...]", "its arguments")
    .addOption(envOption())
    .addOption(ignoreOption())
    .addOption(configOption())
    .addOption(stateOption())
    .option("--observe", "say what would be refused, and let it through, recorded")
    .passThroughOptions()
    .addHelpText(
      "after",
      examplesText(
        [
          "berth-gateway run -- node ./node_modules/@modelcontextprotocol/server-filesystem/dist/index.js /srv/files",
          "berth-gateway run --env GITHUB_TOKEN -- /opt/github-mcp-server stdio",
          "berth-gateway run --measure-ignore '**/memory.jsonl' -- node ./node_modules/@modelcontextprotocol/server-memory/dist/index.js",
        ],
        "In a client's configuration, put `berth-gateway run --` in front of the server's own command.",
      ),
    )
    .action(async (command: string, args: string[], options) => {
      const { runCommand } = await import("./commands/run.js");
      finish(await runCommand({ command, args, ...options }));
    });
}

function addPin(program: Command, finish: Finish): void {
  program
    .command("pin")
    .description("measure servers, list their tools, show what is about to be trusted and what changed, write pins")
    .argument("[command...]", "after --: a server that `run` starts")
    .option("--catalog <file>", "catalog.json")
    .option(
      "--server <name>",
      "only this server; may be repeated",
      (name: string, names: string[]) => [...names, name],
      [],
    )
    .addOption(envOption())
    .addOption(ignoreOption())
    .addOption(configOption())
    .addOption(stateOption())
    .option("--yes", "write the pins without asking")
    .option("--json", "print the result as JSON")
    .addHelpText(
      "after",
      examplesText(
        [
          "berth-gateway pin --catalog catalog.json",
          "berth-gateway pin --catalog catalog.json --server files --yes",
          "berth-gateway pin -- node ./server.js /srv/files",
        ],
        "Exit code 3: something new or changed was not accepted. 1: a server could not be measured or started.",
      ),
    )
    .action(async (command: string[], options) => {
      const { pinCommand } = await import("./commands/pin.js");
      finish(await pinCommand({ command, ...options }));
    });
}

function addImport(program: Command, finish: Finish): void {
  program
    .command("import")
    .description("turn client configurations into a catalog")
    .argument("<files...>", "mcpServers JSON, VS Code's mcp.json, Zed's settings, Codex' config.toml")
    .option("--out <file>", "the catalog to write or to add to; without it, the catalog is printed")
    .option("--pin", "then pin what was imported")
    .option("--yes", "with --pin: write the pins without asking")
    .addOption(configOption())
    .addOption(stateOption())
    .option("--json", "print the report as JSON")
    .addHelpText(
      "after",
      examplesText(
        [
          "berth-gateway import ~/.config/Claude/claude_desktop_config.json --out catalog.json",
          "berth-gateway import .vscode/mcp.json ~/.codex/config.toml --out catalog.json --pin",
        ],
        "An entry that the catalog has already stays as it is; one of the same name with another content is reported.",
      ),
    )
    .action(async (files: string[], options) => {
      const { importCommand } = await import("./commands/import.js");
      finish(await importCommand({ files, ...options }));
    });
}

function addServe(program: Command, finish: Finish): void {
  program
    .command("serve")
    .description("stand between a client and the servers of a catalog")
    .requiredOption("--catalog <file>", "catalog.json")
    .addOption(configOption())
    .addOption(stateOption())
    .option("--observe", "say what would be refused, and let it through, recorded")
    .option("--stdio", "speak over standard input and output")
    .addHelpText("after", examplesText(["berth-gateway serve --catalog catalog.json --stdio"]))
    .action(async (options) => {
      const { serveCommand } = await import("./commands/serve.js");
      finish(await serveCommand(options));
    });
}

function addStatus(program: Command, finish: Finish): void {
  program
    .command("status")
    .description("what the gateways of a state folder are doing and did last")
    .addOption(stateOption())
    .option("--json", "print the result as JSON")
    .addHelpText("after", examplesText(["berth-gateway status", "berth-gateway status --state ./state --json"]))
    .action(async (options) => {
      const { statusCommand } = await import("./commands/status.js");
      finish(await statusCommand(options));
    });
}

function addAudit(program: Command, finish: Finish): void {
  const audit = program.command("audit").description("read and check the logs of a state folder");
  audit
    .command("verify")
    .description("check every log: hashes, links, sequence, times, brackets")
    .addOption(stateOption())
    .option("--strict", "also check that each entry is in canonical form")
    .option("--json", "print the result as JSON")
    .addHelpText("after", examplesText(["berth-gateway audit verify", "berth-gateway audit verify --strict --json"]))
    .action(async (options) => {
      const { auditVerifyCommand } = await import("./commands/audit.js");
      finish(await auditVerifyCommand(options));
    });
  audit
    .command("tail")
    .description("print the newest entries of all logs, oldest first")
    .addOption(stateOption())
    .option("-n, --lines <count>", "how many, or all (default: 20; with --json all)")
    .option("--json", "one JSON object a line")
    .addHelpText("after", examplesText(["berth-gateway audit tail -n 50", "berth-gateway audit tail --json"]))
    .action(async (options) => {
      const { auditTailCommand } = await import("./commands/audit.js");
      finish(await auditTailCommand(options));
    });
}

function addPlugins(program: Command, finish: Finish): void {
  program
    .command("plugins")
    .description(
      "make the environments of the plugins of gateway.yaml now, start each once, and import its class: that runs its module's code",
    )
    .requiredOption("--config <file>", "gateway.yaml, with `plugins`")
    .addOption(stateOption())
    .option("--json", "print the result as JSON")
    .addHelpText(
      "after",
      examplesText(
        ["berth-gateway plugins --config gateway.yaml"],
        "run and serve make and start them too, and import at the first call; a client may not wait as long as the first time takes.",
      ),
    )
    .action(async (options) => {
      const { pluginsCommand } = await import("./commands/plugins.js");
      finish(await pluginsCommand(options));
    });
}

function addDoctor(program: Command, finish: Finish): void {
  program
    .command("doctor")
    .description("what this machine and this catalog lack, and what to do about it")
    .option("--catalog <file>", "catalog.json")
    .addOption(configOption())
    .addOption(stateOption())
    .option("--json", "print the result as JSON")
    .addHelpText("after", examplesText(["berth-gateway doctor", "berth-gateway doctor --catalog catalog.json"]))
    .action(async (options) => {
      const { doctorCommand } = await import("./commands/doctor.js");
      finish(await doctorCommand(options));
    });
}
