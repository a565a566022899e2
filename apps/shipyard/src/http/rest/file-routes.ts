import { basename } from "node:path/posix";
import { bytes, json, refused, sessionRefusals } from "./describe.js";
import { createDownloads } from "./downloads.js";
import type { RestParts } from "./parts.js";
import { answer, type Route, type RouteCall } from "./route.js";
import { file, files } from "./schemas.js";
import { fileBody } from "./to-wire.js";

/** Files of one owner that are read at once. */
const maxDownloads = 16;
const path = "/v1/sessions/{id}/files";
const one = `${path}/{path}`;
const refusals = {
  ...sessionRefusals,
  403: refused("It is no file that may be reached"),
  404: refused("You have no such session, or it no such file"),
  413: refused("The file is too large"),
};

/** Files of a session's workspace. What is in them is whoever's wrote them: they are given as bytes, never as a page. */
export function fileRoutes({ sessions, terms, bodies }: RestParts): readonly Route[] {
  const downloads = createDownloads(maxDownloads);
  const filesOf = ({ owner, params }: RouteCall) => sessions.get(owner, params["id"] ?? "").files;
  return [
    {
      method: "GET",
      path,
      summary: "Files of the workspace",
      parameters: [{ in: "query", name: "path", description: "A folder. Default: the workspace" }],
      answers: { 200: json("All of them", files), ...refusals },
      async handle(call) {
        const folder = call.query.get("path") ?? "";
        const { signal } = call.request;
        const entries = await filesOf(call).list(folder === "" ? { signal } : { path: folder, signal });
        return answer(200, { files: entries.map(fileBody) });
      },
    },
    {
      method: "GET",
      path: one,
      summary: "One file",
      answers: { 200: bytes, ...refusals },
      async handle(call) {
        const name = call.params["path"] ?? "";
        const { signal } = call.request;
        let size = 0;
        const body = await downloads.body(call.owner, async () => {
          const content = await filesOf(call).read(name, { signal });
          size = content.length;
          return content;
        });
        return new Response(body, { status: 200, headers: { ...fileHeaders(name), "content-length": String(size) } });
      },
    },
    {
      method: "PUT",
      path: one,
      summary: "Writes a file; missing folders are made, an old one is replaced as a whole",
      body: { required: true, ...bytes },
      answers: { 200: json("What was written", file), ...refusals },
      async handle(call) {
        return bodies.use(call.request, call.owner, terms.maxFileBytes, async (content) =>
          answer(200, fileBody(await filesOf(call).write(call.params["path"] ?? "", content))),
        );
      },
    },
    {
      method: "DELETE",
      path: one,
      summary: "Removes a file",
      answers: { 204: { description: "It is gone" }, ...refusals },
      async handle(call) {
        await filesOf(call).remove(call.params["path"] ?? "");
        return new Response(null, { status: 204 });
      },
    },
  ];
}

/** A page that a browser would show could act for its reader here. */
function fileHeaders(name: string): Record<string, string> {
  return {
    "content-type": "application/octet-stream",
    "content-disposition": `attachment; filename*=UTF-8''${encodeURIComponent(basename(name)).replace(/['()*]/g, "_")}`,
    "content-security-policy": "sandbox; default-src 'none'",
    "x-content-type-options": "nosniff",
    "cache-control": "no-store",
  };
}
