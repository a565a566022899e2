import type { DriftKind } from "./relay-event.js";
import type { PinnedDefinitions, ToolPolicy } from "./server-policy.js";
import type { BlockedReason } from "./wire-errors.js";

/** What a server lists. */
export type ListKind = "tools" | "prompts" | "resources" | "resourceTemplates";

/** How a list is asked for and read. */
export interface ListRules {
  readonly method: string;
  /** Member of the result that holds the array. */
  readonly member: string;
  /** Member of an element that names it. */
  readonly nameMember: string;
}

/** How one kind is asked for, named and pinned. */
export interface ListKindRules extends ListRules {
  /** Capability without which a server is not asked. */
  readonly capability: string;
  readonly nameMember: "name" | "uri" | "uriTemplate";
  /** Sent by a server when its list has changed. */
  readonly changedNotification: string;
  /** Absent for resources, which are not definitions and are not pinned. */
  readonly pinning?: PinningRules | undefined;
}

/** How definitions of one kind are compared with what was accepted. */
export interface PinningRules {
  readonly drift: DriftKind;
  pinned(policy: ToolPolicy): PinnedDefinitions | undefined;
  readonly changed: BlockedReason;
  readonly notPinned: BlockedReason;
  readonly withdrawn: BlockedReason;
}

/** The lists of MCP 2025-11-25 (Server features). */
export const listKinds: Readonly<Record<ListKind, ListKindRules>> = {
  tools: {
    method: "tools/list",
    member: "tools",
    capability: "tools",
    nameMember: "name",
    changedNotification: "notifications/tools/list_changed",
    pinning: {
      drift: "tool",
      pinned: ({ pinned }) => pinned,
      changed: "TOOL_CHANGED",
      notPinned: "TOOL_NOT_PINNED",
      withdrawn: "TOOL_WITHDRAWN",
    },
  },
  prompts: {
    method: "prompts/list",
    member: "prompts",
    capability: "prompts",
    nameMember: "name",
    changedNotification: "notifications/prompts/list_changed",
    pinning: {
      drift: "prompt",
      pinned: ({ pinnedPrompts }) => pinnedPrompts,
      changed: "PROMPT_CHANGED",
      notPinned: "PROMPT_NOT_PINNED",
      withdrawn: "PROMPT_WITHDRAWN",
    },
  },
  resources: {
    method: "resources/list",
    member: "resources",
    capability: "resources",
    nameMember: "uri",
    changedNotification: "notifications/resources/list_changed",
  },
  resourceTemplates: {
    method: "resources/templates/list",
    member: "resourceTemplates",
    capability: "resources",
    nameMember: "uriTemplate",
    changedNotification: "notifications/resources/list_changed",
    pinning: {
      drift: "resource-template",
      pinned: ({ pinnedResourceTemplates }) => pinnedResourceTemplates,
      changed: "RESOURCE_TEMPLATE_CHANGED",
      notPinned: "RESOURCE_TEMPLATE_NOT_PINNED",
      withdrawn: "RESOURCE_TEMPLATE_WITHDRAWN",
    },
  },
};

/** The kinds, in the order in which they are dealt with. */
export const allListKinds: readonly ListKind[] = ["tools", "prompts", "resources", "resourceTemplates"];
