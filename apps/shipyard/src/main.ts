import { Command } from "commander";

/** The command line: one subcommand a file. */
export async function main(argv: readonly string[]): Promise<void> {
  const program = new Command("berth-shipyard");
  await program.parseAsync([...argv]);
}
