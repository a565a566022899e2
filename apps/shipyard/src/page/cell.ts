import type { OutcomeBody, StreamEventBody, TextBody } from "../http/rest/wire.js";
import { size, took } from "./clock.js";
import { button, element, setText, unseen } from "./dom.js";
import { createOutputLog } from "./output-log.js";

/** Gives to the reader's disk. */
export interface Saver {
  /** A file of the session. */
  file(path: string): void;
  text(text: string): void;
}

/** One run: its code, what came of it, and how it ended. */
export interface Cell {
  readonly node: HTMLElement;
  tell(event: StreamEventBody): void;
  /** Why nothing was run, or no more is known; `again` asks for the outcome. */
  fail(message: string, cure: string | undefined, again?: () => void): void;
}

export function createCell(code: string, save: Saver): Cell {
  const output = createOutputLog();
  const end = element("p", { class: "end running" }, "running");
  const node = element("article", { class: "cell" }, element("pre", { class: "code" }, code), output.node, end);
  const close = (outcome: OutcomeBody, dropped: number): void => {
    if (dropped > 0 || (output.written === 0 && outcome.output.text !== "")) {
      // The server left out what this page did not take in time, or this is an outcome of before.
      output.clear();
      output.write("stdout", outcome.output.text);
    }
    for (const one of outcome.displays.slice(output.displays)) output.display(one);
    output.add(...endOf(outcome, output.hasResult), ...notesOf(outcome, output.isCut, save));
    if (output.node.childElementCount === 0) output.add(element("p", { class: "none" }, "no output"));
    end.className = `end ${outcome.status}`;
    setText(end, endText(outcome));
  };
  const ask = (again: () => void): HTMLElement =>
    button("Ask for its outcome", () => {
      end.className = "end running";
      setText(end, "running");
      output.clear();
      again();
    });
  return {
    node,
    tell(event) {
      if (event.kind === "refused") this.fail(event.refusal.error, event.refusal.cure);
      else if (event.kind === "display") output.display(event.display);
      else if (event.kind === "outcome") close(event.outcome, event.events_dropped);
      else output.write(event.kind, event.text);
    },
    fail(message, cure, again) {
      end.className = "end refused";
      end.replaceChildren(cure === undefined ? message : `${message} ${cure}`);
      if (again !== undefined) end.append(" ", ask(again));
    },
  };
}

/** Last value, traceback, and how it ended when it did not by itself. */
function endOf({ result, fault, reason }: OutcomeBody, hasResult: boolean): readonly HTMLElement[] {
  const told: HTMLElement[] = [];
  if (result !== undefined && !hasResult) told.push(element("pre", { class: "result" }, result));
  if (fault !== undefined)
    told.push(element("pre", { class: "fault" }, unseen("Traceback: "), fault.traceback || fault.message));
  if (reason !== undefined) told.push(element("p", { class: "reason" }, reason));
  return told;
}

function endText({ status, count, duration_ms, cpu_ms }: OutcomeBody): string {
  const cpu = cpu_ms === undefined ? "" : ` · cpu ${took(cpu_ms)}`;
  return `[${count}] ${status} · ${took(duration_ms)}${cpu}`;
}

function notesOf(outcome: OutcomeBody, isCut: boolean, save: Saver): readonly HTMLElement[] {
  const { output, spill, displays_dropped } = outcome;
  const notes: HTMLElement[] = [];
  if (output.truncated || isCut) {
    const whole = button("Download the whole output", () =>
      spill === undefined ? save.text(output.text) : save.file(spill),
    );
    const isKept = spill !== undefined || !output.truncated;
    notes.push(element("p", { class: "note" }, cutText(output), ...(isKept ? [whole] : [])));
  }
  if (displays_dropped > 0)
    notes.push(
      element("p", { class: "note" }, `${displays_dropped} displays were over maxDisplayBytes and were not kept.`),
    );
  return notes;
}

function cutText({ bytes, truncated }: TextBody): string {
  return `Not all of it is shown: it was ${size(bytes)}${truncated ? ", over maxOutputBytes" : ""}. `;
}
