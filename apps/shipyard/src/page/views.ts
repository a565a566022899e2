import { element } from "./dom.js";

export interface View {
  readonly name: string;
  readonly title: string;
  readonly node: HTMLElement;
}

/** Shows the view that the address names after `#`, the first where it names none. Gives what ends that. */
export function openViews(nav: HTMLElement, views: readonly View[], onShown: (name: string) => void): () => void {
  const links = views.map(({ name, title }) => element("a", { href: `#${name}` }, title));
  let isShown = false;
  const show = (): void => {
    const wanted = location.hash.slice(1);
    const found = views.findIndex(({ name }) => name === wanted);
    if (found === -1 && wanted !== "" && isShown) return; // `#main` of the skip link
    isShown = true;
    const at = Math.max(0, found);
    views.forEach(({ node }, index) => {
      node.hidden = index !== at;
    });
    links.forEach((link, index) => {
      if (index === at) link.setAttribute("aria-current", "page");
      else link.removeAttribute("aria-current");
    });
    onShown(views[at]?.name ?? "");
  };
  nav.replaceChildren(...links);
  nav.hidden = false;
  window.addEventListener("hashchange", show);
  show();
  return () => {
    window.removeEventListener("hashchange", show);
    nav.hidden = true;
  };
}
