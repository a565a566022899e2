import { CommandError, examplesText, exitCodes, printLine, runProgram } from "@berth/command-line";

class FerryError extends CommandError {
  name = "FerryError";
}

const addSail = (program, finish) => {
  program
    .command("sail")
    .description("go when the harbour is open")
    .addHelpText("after", examplesText(["ferry sail"]))
    .action(async () => {
      printLine("waiting for the tide");
      const isOpen = false;
      if (!isOpen)
        throw new FerryError("CLOSED", exitCodes.refused, "the harbour is closed", { lines: ["it opens at 6"] });
      finish(exitCodes.good);
    });
};

const ferry = { name: "ferry", description: "Crosses.", version: "1.0.0", commands: [addSail] };
await runProgram(ferry, ["node", "ferry", "sail"]); // process.argv, in a program of your own
