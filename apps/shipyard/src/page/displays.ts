import type { DisplayBody } from "../http/rest/wire.js";
import { displayForm } from "./display-form.js";
import { element } from "./dom.js";
import { jsonTree } from "./json-tree.js";

/** What code displayed. Everything in it is an attacker's. */
export function displayElement({ data }: DisplayBody): HTMLElement {
  const form = displayForm(data);
  switch (form.kind) {
    case "image":
      return element("img", { class: "picture", src: form.source, alt: form.text.slice(0, 500) || "Picture" });
    case "page":
      return htmlFrame(form.html);
    case "json":
      return jsonTree(form.value);
    default:
      return element("pre", { class: "result" }, form.text);
  }
}

// What a frame looks like when its document does not say: this page's text, and borders for tables of figures.
const frameStyle = `<!doctype html><meta charset="utf-8"><meta name="color-scheme" content="light dark"><style>
body{font:13px/1.4 system-ui,sans-serif;margin:8px}
table{border-collapse:collapse}th,td{border:1px solid #8886;padding:2px 8px;text-align:right}</style>`;

/**
 * HTML in a frame of an origin of its own, which may do nothing: no scripts, forms, links out of it, or pop-ups (`sandbox`), and
 * which inherits this page's policy: no address but `data:` pictures. A `blob:` address, since `srcdoc` would need an exception
 * from Trusted Types.
 */
function htmlFrame(html: string): HTMLElement {
  const address = URL.createObjectURL(new Blob([frameStyle, html], { type: "text/html" }));
  const frame = element("iframe", {
    class: "frame",
    sandbox: true,
    title: "HTML output",
    referrerpolicy: "no-referrer",
  });
  frame.addEventListener("load", () => URL.revokeObjectURL(address), { once: true });
  frame.src = address;
  return frame;
}
