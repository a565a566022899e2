import type { OutcomeBody, RefusalBody, StreamEventBody, TextBody } from "../http/rest/wire.js";
import { size, took } from "./clock.js";
import { displayElement } from "./displays.js";
import { button, element, setText, unseen } from "./dom.js";

/** Text of one run that is put into the page. What is over it is in the outcome's file. */
const maxShownChars = 200_000;

/** One run: its code, what came of it, and how it ended. */
export interface Cell {
  readonly node: HTMLElement;
  tell(event: StreamEventBody): void;
  /** Why nothing was run, or no more is known; `again` asks for the outcome. */
  fail(message: string, cure: string | undefined, again?: () => void): void;
}

/** `fetchFile` gives a file of the session to the reader. */
export function createCell(code: string, fetchFile: (path: string) => void): Cell {
  const output = element("div", { class: "output" });
  const end = element("p", { class: "end running" }, "running");
  const node = element("article", { class: "cell" }, element("pre", { class: "code" }, code), output, end);
  let shown = 0;
  let displays = 0;
  let results = 0;

  const write = (kind: "stdout" | "stderr", text: string): void => {
    const room = maxShownChars - shown;
    shown += text.length;
    if (room <= 0) return;
    const piece = text.slice(0, room);
    const last = output.lastElementChild;
    const tail = last?.classList.contains(kind) === true ? last.lastChild : null;
    if (tail instanceof Text) {
      tail.appendData(piece);
      return;
    }
    const label = kind === "stderr" ? [unseen("Error output: ")] : [];
    output.append(element("pre", { class: kind }, ...label, document.createTextNode(piece)));
  };
  const display = (one: OutcomeBody["displays"][number]): void => {
    displays += 1;
    if (one.kind === "result") results += 1;
    output.append(displayElement(one));
  };
  const start = (): void => {
    output.replaceChildren();
    [shown, displays, results] = [0, 0, 0];
  };
  const close = (outcome: OutcomeBody, dropped: number): void => {
    if (dropped > 0 || (shown === 0 && outcome.output.text !== "")) {
      // The server left out what this page did not take in time, or this is an outcome of before.
      start();
      write("stdout", outcome.output.text);
    }
    for (const one of outcome.displays.slice(displays)) display(one);
    if (outcome.result !== undefined && results === 0)
      output.append(element("pre", { class: "result" }, outcome.result));
    if (outcome.fault !== undefined)
      output.append(
        element("pre", { class: "fault" }, unseen("Traceback: "), outcome.fault.traceback || outcome.fault.message),
      );
    if (outcome.reason !== undefined) output.append(element("p", { class: "reason" }, outcome.reason));
    output.append(...notesOf(outcome, shown > maxShownChars, fetchFile));
    if (output.childElementCount === 0) output.append(element("p", { class: "none" }, "no output"));
    end.className = `end ${outcome.status}`;
    setText(end, endText(outcome));
  };
  return {
    node,
    tell(event) {
      if (event.kind === "refused") this.fail(event.refusal.error, event.refusal.cure);
      else if (event.kind === "display") display(event.display);
      else if (event.kind === "outcome") close(event.outcome, event.events_dropped);
      else write(event.kind, event.text);
    },
    fail(message, cure, again) {
      end.className = "end refused";
      end.replaceChildren(refusalText({ error: message, cure }));
      if (again !== undefined) {
        const retry = button("Ask for its outcome", () => {
          end.className = "end running";
          setText(end, "running");
          start();
          again();
        });
        end.append(" ", retry);
      }
    },
  };
}

function refusalText({ error, cure }: RefusalBody): string {
  return cure === undefined ? error : `${error} ${cure}`;
}

function endText({ status, count, duration_ms, cpu_ms }: OutcomeBody): string {
  const cpu = cpu_ms === undefined ? "" : ` · cpu ${took(cpu_ms)}`;
  return `[${count}] ${status} · ${took(duration_ms)}${cpu}`;
}

function notesOf(outcome: OutcomeBody, isCut: boolean, fetchFile: (path: string) => void): readonly HTMLElement[] {
  const { output, spill, displays_dropped } = outcome;
  const notes: HTMLElement[] = [];
  if (output.truncated || isCut)
    notes.push(element("p", { class: "note" }, cutText(output), ...spillButton(spill, fetchFile)));
  if (displays_dropped > 0)
    notes.push(
      element("p", { class: "note" }, `${displays_dropped} displays were over maxDisplayBytes and were not kept.`),
    );
  return notes;
}

function cutText({ bytes, truncated }: TextBody): string {
  return `Not all of it is shown: it was ${size(bytes)}${truncated ? ", over maxOutputBytes" : ""}. `;
}

function spillButton(spill: string | undefined, fetchFile: (path: string) => void): readonly HTMLElement[] {
  return spill === undefined ? [] : [button("Download the whole output", () => fetchFile(spill))];
}
