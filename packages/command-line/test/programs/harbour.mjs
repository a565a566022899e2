// A program with a command for each way to end, for tests that run it as a process.
import {
  CommandError,
  createLogger,
  exitCodes,
  listenForExit,
  printJson,
  printLine,
  runProgram,
} from "@berth/command-line";
import { showChecks } from "@berth/command-line/doctor";

class HarbourError extends CommandError {
  name = "HarbourError";
}

const faults = {
  refused: () =>
    new HarbourError("REFUSED", exitCodes.refused, "it is refused", {
      lines: ["first \u001b[2J", "second"],
      cause: new Error("the tide"),
    }),
  system: () => Object.assign(new Error("no such file", { cause: new Error("the disk") }), { code: "ENOENT" }),
  bug: () => new Error("a bug"),
  word: () => "only a word",
};

async function wait() {
  const logger = await createLogger("info");
  const exits = listenForExit({ onException: (error) => logger.fatal({ err: error }, "a fault") });
  process.stdin.on("data", () => {
    throw new Error("thrown");
  });
  logger.info("waiting");
  if (!exits.signal.aborted) await new Promise((resolve) => exits.signal.addEventListener("abort", resolve));
  logger.info({ cause: exits.cause() }, "ended");
  exits.release();
  return exitCodes.good;
}

await runProgram(
  {
    name: "harbour",
    description: "Ends as it is told.",
    version: "1.2.3",
    commands: [
      (program, finish) =>
        program
          .command("fail")
          .argument("<how>")
          .action((how) => {
            finish(exitCodes.failed);
            throw faults[how]();
          }),
      (program, finish) =>
        program
          .command("end")
          .argument("<code>")
          .action((code) => finish(Number(code))),
      (program, finish) =>
        program.command("print").action(() => {
          printLine("\u001b[2J\u202e end\nless");
          printLine("x".repeat(20_000));
          printJson({ text: "\u009b2J\u202e\ud800" });
          finish(exitCodes.good);
        }),
      (program, finish) =>
        program.command("much").action(() => {
          for (let line = 0; line < 20_000; line += 1) printLine(`line ${line} ${"x".repeat(100)}`);
          finish(exitCodes.failed);
        }),
      (program, finish) =>
        program
          .command("doctor")
          .argument("<checks>")
          .option("--json")
          .action((checks, options) => {
            finish(showChecks(JSON.parse(checks), options));
          }),
      (program, finish) => program.command("wait").action(async () => finish(await wait())),
    ],
  },
  process.argv,
);
