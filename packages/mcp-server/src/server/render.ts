import type { JsonObject } from "@berth/jsonrpc-framing";
import { isObject, toJson } from "../json.js";
import type { ProtocolRevision } from "../revisions.js";
import type { Icon } from "./content.js";
import type {
  PromptDefinition,
  Registration,
  ResourceDefinition,
  ResourceTemplateDefinition,
  ToolAnnotations,
} from "./definitions.js";

/** Who the server says it is. */
export interface ServerIdentity {
  readonly name: string;
  readonly version: string;
  readonly title?: string | undefined;
  readonly description?: string | undefined;
  readonly icons?: readonly Icon[] | undefined;
  readonly websiteUrl?: string | undefined;
}

/** Members of a definition came with these revisions; strict clients of older ones refuse what they do not know. */
const since: Readonly<Record<VersionedMember, ProtocolRevision>> = {
  annotations: "2025-03-26",
  title: "2025-06-18",
  outputSchema: "2025-06-18",
  _meta: "2025-06-18",
  icons: "2025-11-25",
  identity: "2025-11-25",
};
type VersionedMember = "annotations" | "title" | "outputSchema" | "_meta" | "icons" | "identity";

/** Whether clients of this revision know the member. Revisions are dates: they compare as text. */
export function knows(revision: ProtocolRevision, member: VersionedMember): boolean {
  return revision >= since[member];
}

function common(
  revision: ProtocolRevision,
  { title, description, icons, _meta }: Omit<Registration, "permission">,
): object {
  return {
    title: knows(revision, "title") ? title : undefined,
    description,
    icons: knows(revision, "icons") ? icons : undefined,
    _meta: knows(revision, "_meta") ? _meta : undefined,
  };
}

/** What is shown of a tool. */
export interface ShownTool extends Registration {
  readonly name: string;
  readonly annotations?: ToolAnnotations | undefined;
  readonly input: JsonObject;
  readonly output: JsonObject | undefined;
}

export function renderTool(tool: ShownTool, revision: ProtocolRevision): JsonObject {
  const showsOutput =
    knows(revision, "outputSchema") && (revision >= "2026-07-28" || tool.output?.["type"] === "object");
  return toJson({
    name: tool.name,
    ...common(revision, tool),
    inputSchema: tool.input,
    outputSchema: showsOutput ? tool.output : undefined,
    annotations: knows(revision, "annotations") ? tool.annotations : undefined,
  });
}

export function renderPrompt<P>(prompt: PromptDefinition<P>, revision: ProtocolRevision): JsonObject {
  const shown = prompt.arguments?.map(({ name, title, description, required }) => ({
    name,
    title: knows(revision, "title") ? title : undefined,
    description,
    required,
  }));
  return toJson({ name: prompt.name, ...common(revision, prompt), arguments: shown });
}

export function renderResource<P>(resource: ResourceDefinition<P>, revision: ProtocolRevision): JsonObject {
  const { uri, name, mimeType, size, annotations } = resource;
  return toJson({ uri, name, ...common(revision, resource), mimeType, size, annotations });
}

export function renderTemplate<P>(template: ResourceTemplateDefinition<P>, revision: ProtocolRevision): JsonObject {
  const { uriTemplate, name, mimeType, annotations } = template;
  return toJson({ uriTemplate, name, ...common(revision, template), mimeType, annotations });
}

export function renderIdentity(identity: ServerIdentity, revision: ProtocolRevision): JsonObject {
  const { name, version, title, description, icons, websiteUrl } = identity;
  const named = { name, version, title: knows(revision, "title") ? title : undefined };
  return toJson(knows(revision, "identity") ? { ...named, description, icons, websiteUrl } : named);
}

/** Key under which results of 2026-07-28 name their server. */
const serverInfoKey = "io.modelcontextprotocol/serverInfo";

/** A result of 2026-07-28: with its type and its server's name. */
export function modernResult(result: JsonObject, serverInfo: JsonObject, resultType = "complete"): JsonObject {
  const given = result["_meta"];
  const meta = isObject(given) ? { ...given, [serverInfoKey]: serverInfo } : { [serverInfoKey]: serverInfo };
  return { resultType, ...result, _meta: meta };
}
