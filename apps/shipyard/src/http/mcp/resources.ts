import { isSessionError, type Sessions } from "@berth/code-sessions";
import type { ReadResult, ResourceCall, ResourceTemplateDefinition } from "@berth/mcp-server";
import { mediaTypeOf, textOfBytes } from "../media-type.js";
import { usePermission } from "./tool-parts.js";

/** Proposals of a completion that are worth making. */
const maxProposed = 100;

/** The files of sessions, read as resources: what `/v1/sessions/{id}/files/{path}` gives. */
export function fileResources(sessions: Sessions): readonly ResourceTemplateDefinition<string>[] {
  const read = async ({ variables, principal, signal, uri }: ResourceCall<string>): Promise<ReadResult> => {
    const { session = "", path = "" } = variables;
    try {
      const bytes = await sessions.get(principal, session).files.read(path, { signal });
      const mimeType = mediaTypeOf(path);
      const text = textOfBytes(bytes);
      return text === undefined
        ? { uri, mimeType, blob: Buffer.from(bytes).toString("base64") }
        : { uri, mimeType, text };
    } catch (fault) {
      // A session or a file that is not there, or none of theirs, is a resource that does not exist.
      if (isSessionError(fault)) return undefined;
      throw fault;
    }
  };
  return [
    {
      uriTemplate: "session:///{session}/files/{+path}",
      name: "session-file",
      title: "File of a Python session",
      description: "A file in the workspace of one of your sessions.",
      permission: usePermission,
      complete: {
        session: ({ value, principal }) =>
          sessions
            .list(principal)
            .map(({ id }) => id)
            .filter((id) => id.startsWith(value)),
        path: async ({ value, chosen, principal, signal }) => {
          try {
            const entries = await sessions.get(principal, chosen["session"] ?? "").files.list({ signal });
            const files = entries.filter(({ kind, path }) => kind === "file" && path.startsWith(value));
            return files.map(({ path }) => path).slice(0, maxProposed);
          } catch (fault) {
            if (isSessionError(fault)) return [];
            throw fault;
          }
        },
      },
      read,
    },
  ];
}
