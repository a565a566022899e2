import type { JsonObject } from "@berth/jsonrpc-framing";
import type { ResourceAnnotations } from "./definitions.js";

/** An icon: `https:` or `data:`. */
export interface Icon {
  readonly src: string;
  readonly mimeType?: string | undefined;
  /** Such as `48x48`, or `any`. */
  readonly sizes?: readonly string[] | undefined;
  readonly theme?: "light" | "dark" | undefined;
}

/** Text or bytes (base64) of a resource. */
export type ResourceContents = {
  /** Default: the address that was read. */
  readonly uri?: string | undefined;
  readonly mimeType?: string | undefined;
  readonly _meta?: JsonObject | undefined;
} & ({ readonly text: string } | { readonly blob: string });

interface BlockExtras {
  readonly annotations?: ResourceAnnotations | undefined;
  readonly _meta?: JsonObject | undefined;
}

/** One piece of a tool's result or of a prompt. `data` and `blob` are base64. */
export type ContentBlock = BlockExtras &
  (
    | { readonly type: "text"; readonly text: string }
    | { readonly type: "image" | "audio"; readonly data: string; readonly mimeType: string }
    | {
        readonly type: "resource_link";
        readonly uri: string;
        readonly name: string;
        readonly title?: string | undefined;
        readonly description?: string | undefined;
        readonly mimeType?: string | undefined;
        readonly size?: number | undefined;
      }
    | { readonly type: "resource"; readonly resource: ResourceContents & { readonly uri: string } }
  );

/** One message of a prompt. */
export interface PromptMessage {
  readonly role: "user" | "assistant";
  readonly content: ContentBlock;
}
