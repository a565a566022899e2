import { isObject } from "../json.js";
import { nearestName } from "../nearest-name.js";

/** What is wrong with a list of content blocks; undefined when nothing is. One look at each block: text is not searched. */
export function blocksFault(content: readonly unknown[]): string | undefined {
  for (let index = 0; index < content.length; index++) {
    const fault = blockFault(content[index]);
    if (fault !== undefined) return `content[${index}], which ${fault}`;
  }
  return undefined;
}

/** What is wrong with one content block (MCP 2025-11-25, Schema § ContentBlock): a client refuses the whole result over one. */
export function blockFault(block: unknown): string | undefined {
  if (!isObject(block)) return "is no content block";
  switch (block["type"]) {
    case "text":
      return typeof block["text"] === "string" ? undefined : absent("text", block["text"]);
    case "image":
    case "audio":
      return missing(block, ["data", "mimeType"]);
    case "resource_link":
      return missing(block, ["uri", "name"]);
    case "resource": {
      const { resource } = block;
      if (!isObject(resource)) return "has no resource";
      const fault = missing(resource, ["uri"]) ?? contentsFault(resource);
      return fault === undefined ? undefined : `has a resource which ${fault}`;
    }
    default:
      return `has the type ${shown(block["type"])}, which does not exist`;
  }
}

/** What is wrong with the text or bytes of a resource. */
export function contentsFault(one: unknown): string | undefined {
  if (one instanceof Uint8Array) return 'is bytes: return { blob: bytes.toString("base64") }';
  if (!isObject(one)) return "is neither text nor an object with text or blob";
  const { text, blob, contents, uri, mimeType } = one;
  if (typeof text !== "string" && typeof blob !== "string") {
    if (Array.isArray(contents)) return "wraps its contents: return the list itself";
    return text === undefined && blob === undefined
      ? "has neither text nor blob"
      : absent("text or blob", blob ?? text);
  }
  if (uri !== undefined && typeof uri !== "string") return "has a uri that is no text";
  return mimeType !== undefined && typeof mimeType !== "string" ? "has a mimeType that is no text" : undefined;
}

/** What is wrong with one message of a prompt. */
export function messageFault(message: unknown): string | undefined {
  if (!isObject(message)) return "is no object";
  const { role, content } = message;
  if (role !== "user" && role !== "assistant")
    return `has the role ${shown(role)}, which is neither "user" nor "assistant"`;
  const fault = blockFault(content);
  return fault === undefined ? undefined : `has content which ${fault}`;
}

/** Names a member that a result does not have; undefined when there is none. */
export function memberFault(result: object, known: readonly string[]): string | undefined {
  for (const name in result) {
    if (known.includes(name)) continue;
    const meant = nearestName(name.slice(0, maxNameLength), known);
    return `the unknown member "${name.slice(0, maxNameLength)}"${meant === undefined ? "" : ` (did you mean "${meant}"?)`}`;
  }
  return undefined;
}
const maxNameLength = 64;

function missing(block: Readonly<Record<string, unknown>>, names: readonly string[]): string | undefined {
  for (const name of names) if (typeof block[name] !== "string") return absent(name, block[name]);
  return undefined;
}

function absent(name: string, value: unknown): string {
  if (value instanceof Uint8Array) return `has ${name} as bytes, where base64 is needed: bytes.toString("base64")`;
  return value === undefined ? `has no ${name}` : `has ${name} that is no text`;
}

function shown(value: unknown): string {
  return typeof value === "string" ? JSON.stringify(value.slice(0, maxNameLength)) : String(typeof value);
}
