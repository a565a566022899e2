import type { VariableBody } from "../http/rest/wire.js";
import { type Api, sessionPath } from "./api.js";
import { size } from "./clock.js";
import { button, element } from "./dom.js";
import { tellFault } from "./notices.js";
import { table } from "./table.js";

export interface VariablesView {
  readonly node: HTMLElement;
  refresh(): void;
}

/** Names that code has defined. */
export function createVariablesView(api: Api, session: string): VariablesView {
  const list = element("div", {});
  const show = async (): Promise<void> => {
    const path = `${sessionPath(session)}/variables`;
    const { variables } = await api.get<{ readonly variables: readonly VariableBody[] }>(path);
    const rows = variables.map(({ name, type, preview, size_bytes }) => [
      element("code", {}, name),
      type,
      element("code", {}, preview),
      size_bytes === undefined ? "" : size(size_bytes),
    ]);
    list.replaceChildren(
      rows.length === 0
        ? element("p", { class: "empty" }, "Nothing is defined yet. Run code that assigns a name.")
        : table("Variables", ["Name", "Type", "Value", "Size"], rows),
    );
  };
  const refresh = (): void => void show().catch(tellFault);
  return {
    node: element("section", {}, element("div", { class: "row end" }, button("Refresh", refresh)), list),
    refresh,
  };
}
