import { element } from "./dom.js";

export interface Tab {
  readonly name: string;
  readonly panel: HTMLElement;
  readonly onShown?: () => void;
}

/** Panels of which one is seen (ARIA Authoring Practices § Tabs): arrow keys go from one to the next. */
export function tabs(label: string, prefix: string, all: readonly Tab[]): HTMLElement {
  const list = element("div", { role: "tablist", "aria-label": label });
  const handles = all.map(({ name, panel }) => {
    const id = `${prefix}-${name.toLowerCase()}`;
    for (const [key, value] of [
      ["role", "tabpanel"],
      ["id", `${id}-panel`],
      ["aria-labelledby", id],
    ] as const)
      panel.setAttribute(key, value);
    return element("button", { type: "button", role: "tab", id, "aria-controls": `${id}-panel` }, name);
  });
  const show = (at: number): void => {
    handles.forEach((handle, index) => {
      handle.setAttribute("aria-selected", String(index === at));
      handle.tabIndex = index === at ? 0 : -1;
    });
    all.forEach(({ panel }, index) => {
      panel.hidden = index !== at;
    });
    all[at]?.onShown?.();
  };
  handles.forEach((handle, at) => {
    handle.addEventListener("click", () => show(at));
    handle.addEventListener("keydown", ({ key }) => {
      const step = key === "ArrowRight" ? 1 : key === "ArrowLeft" ? -1 : 0;
      if (step === 0) return;
      const next = (at + step + all.length) % all.length;
      show(next);
      handles[next]?.focus();
    });
  });
  list.append(...handles);
  show(0);
  return element("div", { class: "tabs" }, list, ...all.map(({ panel }) => panel));
}
