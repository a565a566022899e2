import type { FileBody } from "../http/rest/wire.js";
import { type Api, filePath, sessionPath } from "./api.js";
import { size } from "./clock.js";
import { confirmButton } from "./confirm-button.js";
import { button, element } from "./dom.js";
import { download } from "./download.js";
import { act, tellFault } from "./notices.js";
import { table } from "./table.js";

export interface FilesView {
  readonly node: HTMLElement;
  refresh(): void;
}

/** Files of a session's workspace: one folder at a time. */
export function createFilesView(api: Api, session: string): FilesView {
  let folder = "";
  const where = element("nav", { class: "path", "aria-label": "Folder" });
  const list = element("div", {});
  const chooser = element("input", { type: "file", multiple: true, class: "unseen" });
  const label = element("label", { class: "button" }, "Upload", chooser);
  const node = element("section", { class: "files" }, element("div", { class: "row" }, where, again(), label), list);

  function again(): HTMLElement {
    return button("Refresh", () => refresh());
  }
  const open = (path: string): void => {
    folder = path;
    refresh();
  };
  const refresh = (): void => {
    void show().catch(tellFault);
  };
  const show = async (): Promise<void> => {
    const asked = folder;
    const query = asked === "" ? "" : `?path=${encodeURIComponent(asked)}`;
    const { files } = await api.get<{ readonly files: readonly FileBody[] }>(`${sessionPath(session)}/files${query}`);
    if (asked !== folder) return;
    where.replaceChildren(...crumbs(folder, open));
    const empty = "No files here yet. Upload one, or let code write one.";
    if (files.length === 0) return list.replaceChildren(element("p", { class: "empty" }, empty));
    list.replaceChildren(table("Files", ["Name", "Size", "Changed", "Actions"], files.map(row)));
  };
  const row = (file: FileBody): readonly (string | Node)[] => {
    const { path, kind, bytes, modified_at } = file;
    const name = path.split("/").at(-1) ?? path;
    const changed = new Date(modified_at).toLocaleString();
    if (kind === "folder") return [button(`${name}/`, () => open(path), { class: "link" }), "", changed, ""];
    if (kind !== "file") return [`${name} (${kind})`, "", changed, ""];
    const fetchIt = button("Download", () => void act(fetchIt, () => download(api, session, path)), {
      "aria-label": `Download ${name}`,
    });
    const remove = confirmButton("Delete", "Delete it?", () => void act(remove, () => removeFile(path)), name);
    return [name, size(bytes), changed, element("div", { class: "row" }, fetchIt, remove)];
  };
  const removeFile = async (path: string): Promise<void> => {
    await api.remove(filePath(session, path));
    await show();
  };
  const upload = async (): Promise<void> => {
    for (const file of chooser.files ?? []) {
      await api.put(filePath(session, folder === "" ? file.name : `${folder}/${file.name}`), file);
    }
  };
  chooser.addEventListener("change", () => {
    void upload()
      .catch(tellFault)
      .finally(() => {
        chooser.value = "";
        refresh();
      });
  });
  return { node, refresh };
}

function crumbs(folder: string, open: (path: string) => void): readonly (Node | string)[] {
  const parts = folder === "" ? [] : folder.split("/");
  const links = parts.map((name, at) => button(name, () => open(parts.slice(0, at + 1).join("/")), { class: "link" }));
  return [button("workspace", () => open(""), { class: "link" }), ...links.flatMap((link) => [" / ", link])];
}
