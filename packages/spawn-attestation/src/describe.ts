import type { InterpreterPin, SpawnDescription } from "./description.js";
import { interpreterPin } from "./interpreter-pin.js";
import { answerShim, type MeasureOptions, measureTerms, withMeans } from "./measure.js";
import type { Measurement } from "./measurement.js";
import type { Origin } from "./origin.js";
import { readTerms } from "./terms.js";

/** A launch for a person who is about to trust it. */
export interface LaunchReport {
  readonly measurement: Measurement;
  /** What the package says of itself; nobody checked it. */
  readonly origin: Origin | undefined;
  /** What to write into the description to pin it. */
  readonly pin: { readonly digest: string; readonly interpreter: InterpreterPin | undefined };
  readonly offers: readonly Offer[];
}

/** A better description that a person may take. */
export interface Offer {
  /** Members of the description to write. */
  readonly members: Pick<SpawnDescription, "command"> & Partial<Pick<SpawnDescription, "args">>;
  readonly why: string;
}

/**
 * Measures a launch and says what a person wants to see before trusting it. Starts nothing but a shim that is asked.
 * @throws {AttestationError} as `measureLaunch`
 */
export async function describeLaunch(
  description: SpawnDescription,
  options: MeasureOptions = {},
): Promise<LaunchReport> {
  return withMeans(options, async (means) => {
    const terms = readTerms(description, () => process.cwd());
    const { measurement } = await answerShim(await measureTerms(terms, means), means);
    const origin = await means.measurer.run("origin", measurement, { signal: means.signal });
    const { interpreter, digest } = measurement;
    const pinned = interpreter === undefined ? undefined : interpreterPin(interpreter);
    return { measurement, origin, pin: { digest, interpreter: pinned }, offers: offersFor(measurement) };
  });
}

function offersFor({ interpreter, executable, launch }: Measurement): readonly Offer[] {
  if (interpreter?.kind !== "shim" || interpreter.answer === undefined) return [];
  const why = `${interpreter.path} is a shim that chooses an interpreter when it starts; this is the one it chooses now`;
  const command = interpreter.answer;
  if (interpreter.path === executable.path) return [{ members: { command }, why }];
  // The shim is reached through a script's #! line: name the interpreter, and the script as its first argument.
  return [{ members: { command, args: [launch.file, ...launch.args] }, why }];
}
