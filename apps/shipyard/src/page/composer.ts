import type { CodeHistory } from "./code-history.js";
import { button, element, setText } from "./dom.js";
import { act } from "./notices.js";

/** Where code is written. */
export interface Composer {
  readonly node: HTMLElement;
  setRunning(isRunning: boolean): void;
  /** Nothing more can be run. */
  end(why: string): void;
  focus(): void;
}

export function createComposer(
  history: CodeHistory,
  onRun: (code: string) => void,
  interrupt: () => Promise<unknown>,
): Composer {
  const field = element("textarea", { rows: 5, spellcheck: "false", autocapitalize: "off", autocomplete: "off" });
  const stop = button("Interrupt", () => void act(stop, interrupt), { disabled: true });
  const run = button("Run", () => start(), { class: "main", title: "Ctrl+Enter" });
  const hint = element("span", { class: "hint" }, "Ctrl+Enter runs · ↑ ↓ at the edge: earlier code");
  const start = (): void => {
    const code = field.value;
    field.focus();
    if (code.trim() === "") return;
    history.add(code);
    field.value = "";
    onRun(code);
  };
  field.addEventListener("keydown", (event) => {
    if (event.isComposing) return;
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) start();
    else if (event.key === "Enter" && !event.shiftKey && !event.altKey) newLine(field);
    else if (!walk(field, event, history)) return;
    event.preventDefault();
  });
  return {
    node: element(
      "div",
      { class: "composer" },
      element("label", {}, "Python code", field),
      element("div", { class: "row" }, run, stop, hint),
    ),
    setRunning(isRunning) {
      stop.disabled = !isRunning;
    },
    end(why) {
      field.disabled = true;
      run.disabled = true;
      setText(hint, why);
    },
    focus: () => field.focus(),
  };
}

/** A line under one that is indented, or that opens a block, is indented as well. */
function newLine(field: HTMLTextAreaElement): void {
  const line = field.value.slice(0, field.selectionStart).split("\n").at(-1) ?? "";
  const [indent = ""] = /^[ \t]*/.exec(line) ?? [];
  // In place of setRangeText, which cannot be undone by a person.
  document.execCommand("insertText", false, `\n${indent}${/:\s*$/.test(line) ? "    " : ""}`);
}

/** Arrow keys leave the text only where the cursor could go no further. */
function walk(
  field: HTMLTextAreaElement,
  { key, shiftKey, altKey, ctrlKey, metaKey }: KeyboardEvent,
  history: CodeHistory,
): boolean {
  if (shiftKey || altKey || ctrlKey || metaKey || field.selectionStart !== field.selectionEnd) return false;
  const at = field.selectionStart;
  const isUp = key === "ArrowUp" && !field.value.slice(0, at).includes("\n");
  const isDown = key === "ArrowDown" && !field.value.slice(at).includes("\n");
  if (!isUp && !isDown) return false;
  const code = isUp ? history.older(field.value) : history.newer();
  if (code === undefined) return false;
  field.value = code;
  const end = isUp ? 0 : code.length;
  field.setSelectionRange(end, end);
  return true;
}
