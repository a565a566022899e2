import { type Api, filePath } from "./api.js";
import { element } from "./dom.js";

/** How long a browser may take to begin with what was given to it. */
const keepMs = 60_000;

/** Gives a file of a session to the browser: by fetch, since a link carries no token. */
export async function download(api: Api, session: string, path: string): Promise<void> {
  saveAs(path.split("/").at(-1) ?? "file", await api.bytes(filePath(session, path)));
}

/** As bytes, whatever is in it: nothing that is saved is opened here. */
export function saveAs(name: string, content: Blob): void {
  const address = URL.createObjectURL(new Blob([content], { type: "application/octet-stream" }));
  element("a", { href: address, download: name }).click();
  window.setTimeout(() => URL.revokeObjectURL(address), keepMs);
}
