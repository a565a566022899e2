import { button } from "./dom.js";

/** A button that asks once more before it acts; going elsewhere takes it back. */
export function confirmButton(text: string, question: string, step: () => void, label?: string): HTMLButtonElement {
  let isAsking = false;
  const ask = (on: boolean): void => {
    isAsking = on;
    made.textContent = on ? question : text;
    made.classList.toggle("asking", on);
    if (label !== undefined) made.setAttribute("aria-label", on ? `${question} ${label}` : `${text} ${label}`);
  };
  const made = button(text, () => {
    if (!isAsking) return ask(true);
    ask(false);
    step();
  });
  made.addEventListener("blur", () => ask(false));
  ask(false);
  return made;
}
