import { element } from "./dom.js";

/** A table that is a list of cards where the page is narrow, and a table to screen readers all the same. */
export function table(
  caption: string,
  columns: readonly string[],
  rows: readonly (readonly (string | Node)[])[],
): HTMLElement {
  const head = columns.map((name) => element("th", { scope: "col", role: "columnheader" }, name));
  const body = rows.map((cells) =>
    element("tr", { role: "row" }, ...cells.map((content, at) => tableCell(columns[at] ?? "", content))),
  );
  return element(
    "table",
    { role: "table" },
    element("caption", { class: "unseen" }, caption),
    element("thead", { role: "rowgroup" }, element("tr", { role: "row" }, ...head)),
    element("tbody", { role: "rowgroup" }, ...body),
  );
}

function tableCell(column: string, content: string | Node): HTMLElement {
  return element("td", { role: "cell", "data-column": column }, content);
}
