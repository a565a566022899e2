import { type Command, examplesText, type Finish, Option, runProgram } from "@berth/command-line";
import { ShipyardError } from "./errors.js";
import { defaultHttp } from "./serving/http-door.js";
import { usualStatePath } from "./state-folder.js";
import { version } from "./version.js";

/** Reads the command line, runs the command, and ends the process with its exit code. */
export function main(argv: readonly string[]): Promise<void> {
  return runProgram(
    {
      name: "berth-shipyard",
      description: "Leases sandboxes with stateful Python, surely cleaned up, and keeps a log that can be checked.",
      version,
      commands: [addServe, addLeases, addAudit, addToken, addDoctor],
    },
    argv,
  );
}

const stateOption = (): Option =>
  new Option("--state <dir>", "state folder").default(usualStatePath(), "the XDG state folder, berth");
const configOption = (): Option => new Option("--config <file>", "shipyard.yaml");
const httpOption = (): Option => new Option("--http <host:port>", "where to listen").default(defaultHttp);
const jsonOption = (): Option => new Option("--json", "print the result as JSON");

function addServe(program: Command, finish: Finish): void {
  program
    .command("serve")
    .description(
      "serve sandboxes over HTTP (MCP and REST), or an application's own MCP server on standard input and output",
    )
    .addOption(configOption())
    .addOption(stateOption())
    .option("--uploads <dir>", "the folder that code sees as /app/uploads (default: <state>/uploads)")
    .addOption(httpOption())
    .option("--application <file:factory>", "serve what this function of a local module makes, on stdio")
    .option("--principal <name>", "with --application: who the client is")
    .addHelpText(
      "after",
      examplesText(
        [
          "berth-shipyard serve",
          "berth-shipyard serve --config shipyard.yaml --http 127.0.0.1:0 --uploads ./uploads",
          "berth-shipyard serve --application ./echo.js:createEcho --principal ada",
        ],
        'Readiness is one JSON line on stderr: {"event":"listening","url":"http://127.0.0.1:8222/mcp"}.',
      ),
    )
    .action(async (options) => {
      if (options.application === undefined && options.principal === undefined) {
        const { serveCommand } = await import("./commands/serve.js");
        return finish(await serveCommand(options));
      }
      if (options.application === undefined) throw new ShipyardError("USAGE", "--principal goes with --application");
      const { serveApplicationCommand } = await import("./commands/serve-application.js");
      finish(await serveApplicationCommand(options));
    });
}

function addLeases(program: Command, finish: Finish): void {
  const leases = program.command("leases").description("see and end the leases of a state folder");
  leases
    .command("list")
    .description("what is leased now; works while a server runs, and while none does")
    .addOption(stateOption())
    .option("--all", "also what has ended")
    .addOption(jsonOption())
    .addHelpText("after", examplesText(["berth-shipyard leases list", "berth-shipyard leases list --all --json"]))
    .action(async (options) => {
      const { leasesListCommand } = await import("./commands/leases.js");
      finish(await leasesListCommand(options));
    });
  leases
    .command("release")
    .description("end leases, by the running server, or in its place when none runs")
    .argument("<lease...>", "as `leases list` shows them")
    .addOption(stateOption())
    .addOption(jsonOption())
    .addHelpText("after", examplesText(["berth-shipyard leases release 3f0c9a5d1e7b48c2a6d4f8e0b1c2d3e4"]))
    .action(async (ids: string[], options) => {
      const { leasesReleaseCommand } = await import("./commands/leases.js");
      finish(await leasesReleaseCommand(ids, options));
    });
  leases
    .command("sweep")
    .description("end what is due and retry what could not be confirmed; without a server, all that servers have left")
    .addOption(stateOption())
    .addOption(jsonOption())
    .addHelpText(
      "after",
      examplesText(["berth-shipyard leases sweep", "berth-shipyard leases sweep --state ./state --json"]),
    )
    .action(async (options) => {
      const { leasesSweepCommand } = await import("./commands/leases.js");
      finish(await leasesSweepCommand(options));
    });
}

function addAudit(program: Command, finish: Finish): void {
  const audit = program
    .command("audit")
    .description("what ran, when, for whom, and how it ended; and whether that log is whole");
  audit
    .command("tail")
    .description("the newest entries of the logs of a state folder, while a server runs too")
    .option("-n, --lines <count>", "how many, or all (default: 20; all with --json)")
    .option("--lease <id>", "only what is about this lease, as `leases list` shows it")
    .option("--owner <name>", "only what is about leases of this principal")
    .option("--session <name>", "only what is about sessions of this name")
    .addOption(stateOption())
    .addOption(new Option("--json", "print each entry whole, as JSON on a line"))
    .addHelpText(
      "after",
      examplesText([
        "berth-shipyard audit tail",
        "berth-shipyard audit tail --session lab --owner ada --lines all",
        "berth-shipyard audit tail --lease 3f0c9a5d1e7b48c2a6d4f8e0b1c2d3e4 --json",
      ]),
    )
    .action(async (options) => {
      const { auditTailCommand } = await import("./commands/audit.js");
      finish(await auditTailCommand(options));
    });
  audit
    .command("verify")
    .description("checks every log of a state folder, as `berth-audit verify` does; 1 when one does not verify")
    .option("--strict", "re-check the canonical form of each entry")
    .addOption(stateOption())
    .addOption(jsonOption())
    .addHelpText(
      "after",
      examplesText(["berth-shipyard audit verify", "berth-shipyard audit verify --state ./state --json"]),
    )
    .action(async (options) => {
      const { auditVerifyCommand } = await import("./commands/audit.js");
      finish(await auditVerifyCommand(options));
    });
}

function addToken(program: Command, finish: Finish): void {
  program
    .command("token")
    .description("make a token for somebody; its hash goes into the file that auth.tokenFile names")
    .argument("<name>", "whose it is: the principal that owns sessions and leases")
    .requiredOption("--file <file>", "the token file")
    .option("--days <count>", "how long it is good (default: 90)")
    .addOption(jsonOption())
    .addHelpText("after", examplesText(["berth-shipyard token ada --file /etc/berth/tokens.jsonl --days 30"]))
    .action(async (name: string, options) => {
      const { tokenCommand } = await import("./commands/token.js");
      finish(await tokenCommand(name, options));
    });
}

function addDoctor(program: Command, finish: Finish): void {
  program
    .command("doctor")
    .description("what this machine enforces, what is missing, how to get it; exit code 0 when serve would start")
    .addOption(configOption())
    .addOption(stateOption())
    .addOption(httpOption())
    .addOption(jsonOption())
    .addHelpText(
      "after",
      examplesText(["berth-shipyard doctor", "berth-shipyard doctor --config shipyard.yaml --json"]),
    )
    .action(async (options) => {
      const { doctorCommand } = await import("./commands/doctor.js");
      finish(await doctorCommand(options));
    });
}
