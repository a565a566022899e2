import type { Outcome, OutputText } from "@berth/code-sessions";

/** What the original's clients are given when there is nothing to show. */
const nothingToShow = "[Execution successful with no output]";

/** An outcome for clients that read one text: whether it went well is carried beside it, never read from it. */
export interface OutcomeText {
  readonly ok: boolean;
  /** All output; with `ok: false`, what was there before the end. */
  readonly shown: string;
  /** With `ok: false`: what went wrong, beginning with `Error:`. */
  readonly fault: string;
  /** Both as one text. */
  readonly whole: string;
}

export function outcomeText(outcome: Outcome): OutcomeText {
  const shown = shownText(outcome);
  if (outcome.status === "ok") {
    const whole = shown === "" ? nothingToShow : shown;
    return { ok: true, shown: whole, fault: "", whole };
  }
  const fault = faultText(outcome);
  const whole = shown === "" ? fault : `${fault}\n\nOutput before the error:\n${shown}`;
  return { ok: false, shown, fault, whole };
}

/** Output in the order in which it came, then what was displayed, then the last value: nothing between them, as in the original. */
function shownText(outcome: Outcome): string {
  const displayed = outcome.displays
    .filter(({ kind }) => kind === "display")
    .map(({ data }) => data["text/plain"] ?? "");
  const rest = displayed.join("") + (outcome.result ?? "");
  return outcome.output.text + cutNote(outcome.output, outcome.spill) + rest;
}

function cutNote({ text, bytes, truncated }: OutputText, spill: string | undefined): string {
  if (!truncated) return "";
  const kept = Buffer.byteLength(text);
  const where = spill === undefined ? "the rest was not kept" : `the whole output is in the file ${spill}`;
  return `\n[output truncated by maxOutputBytes: ${kept} of ${bytes} bytes; ${where}]\n`;
}

function faultText({ status, fault, reason }: Outcome): string {
  const why = reason === undefined ? "" : ` ${reason}`;
  switch (status) {
    case "error":
      return `Error: Execution Error:\n${fault?.traceback ?? fault?.message ?? ""}`;
    case "interrupted":
      return `Error: Execution interrupted.${why}`;
    case "timeout":
      return `Error: Execution timed out.${why}`;
    case "dead":
      return `Error: The Python process ended while the code ran.${why}`;
    default:
      return "";
  }
}
