import { ApiFault } from "./api.js";
import { button, byId, element } from "./dom.js";

/** Shown at once. */
const maxNotices = 4;

/** Tells what went wrong, with its cure, until it is dismissed. The same again is shown once. */
export function tellFault(fault: unknown): void {
  const place = byId("notices");
  const { message, cure } = faultText(fault);
  if ([...place.children].some((one) => one.getAttribute("data-message") === message)) return;
  const notice = element(
    "div",
    { class: "notice", "data-message": message },
    element("div", {}, element("strong", {}, message), ...(cure === undefined ? [] : [element("div", {}, cure)])),
    button("Dismiss", () => notice.remove(), { class: "quiet" }),
  );
  place.append(notice);
  while (place.childElementCount > maxNotices) place.firstElementChild?.remove();
}

/** What was told of a server that was not reached is over once it answers. */
export function dropFault(fault: ApiFault): void {
  for (const one of [...byId("notices").children]) if (one.getAttribute("data-message") === fault.message) one.remove();
}

export function faultText(fault: unknown): { readonly message: string; readonly cure: string | undefined } {
  if (fault instanceof ApiFault) return { message: fault.message, cure: fault.cure };
  return { message: fault instanceof Error ? fault.message : String(fault), cure: undefined };
}

/** Runs something that a person asked for; its button is out of use meanwhile. */
export async function act(asked: HTMLButtonElement, step: () => Promise<unknown>): Promise<void> {
  asked.setAttribute("aria-busy", "true");
  try {
    await step();
  } catch (fault) {
    tellFault(fault);
  } finally {
    asked.removeAttribute("aria-busy");
  }
}
