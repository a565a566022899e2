import { isJsonObject, ownMember } from "../bounded-json.js";
import type { JsonObject } from "../json.js";
import type { PluginCondition } from "../plugin-config.js";
import type { PayloadShape } from "./payload-shape.js";

/** What a plugin sends back as `modified_payload`. */
export type AnswerForm =
  /** The payload, changed. */
  | "payload"
  /** A model of its own. */
  | "result"
  /** Headers, for the member `into` of the payload. */
  | "headers";

/** How a hook's payload and answer look (CPEX fact sheet § 3). */
export interface HookForm {
  /** Undefined: any object, passed through as it is. */
  readonly payload: PayloadShape | undefined;
  readonly answer: AnswerForm;
  /** Of the form `result`. Undefined: any object. */
  readonly result?: PayloadShape | undefined;
  /** Of the form `headers`. */
  readonly into?: string | undefined;
  /** Holds a credential, and is replaced by a placeholder before anything leaves the host. */
  readonly secret?: string | undefined;
  /** The member that a condition is about. */
  readonly named?: { readonly member: string; readonly by: keyof PluginCondition } | undefined;
}

const GENERIC: HookForm = { payload: undefined, answer: "payload" };

const MESSAGE: HookForm = {
  payload: { required: { message: "message" }, optional: { hook: "text" } },
  answer: "payload",
};

const tool = { member: "name", by: "tools" } as const;
const prompt = { member: "prompt_id", by: "prompts" } as const;
const resource = { member: "uri", by: "resources" } as const;
const agent = { member: "agent_id", by: "agents" } as const;

const HTTP_REQUEST: PayloadShape = {
  required: { path: "text", method: "text", headers: "headers" },
  optional: { client_host: "text", client_port: "whole" },
};

const FORMS: Readonly<Record<string, HookForm>> = {
  tool_pre_invoke: {
    payload: { required: { name: "text" }, optional: { args: "object", headers: "headers" } },
    answer: "payload",
    named: tool,
  },
  tool_post_invoke: {
    payload: { required: { name: "text", result: "any" }, optional: {} },
    answer: "payload",
    named: tool,
  },
  prompt_pre_fetch: {
    payload: { required: { prompt_id: "text" }, optional: { args: "textMap" } },
    answer: "payload",
    named: prompt,
  },
  prompt_post_fetch: {
    payload: { required: { prompt_id: "text", result: "any" }, optional: {} },
    answer: "payload",
    named: prompt,
  },
  resource_pre_fetch: {
    payload: { required: { uri: "text" }, optional: { metadata: "object" } },
    answer: "payload",
    named: resource,
  },
  resource_post_fetch: {
    payload: { required: { uri: "text", content: "any" }, optional: {} },
    answer: "payload",
    named: resource,
  },
  agent_pre_invoke: {
    payload: {
      required: { agent_id: "text", messages: "list" },
      optional: { tools: "texts", headers: "headers", model: "text", system_prompt: "text", parameters: "object" },
    },
    answer: "payload",
    named: agent,
  },
  agent_post_invoke: {
    payload: { required: { agent_id: "text", messages: "list" }, optional: { tool_calls: "list" } },
    answer: "payload",
    named: agent,
  },
  identity_resolve: {
    payload: {
      required: {},
      optional: { source: "text", headers: "textMap", client_host: "text", client_port: "whole" },
    },
    answer: "result",
    result: {
      required: {},
      optional: {
        subject: "subject",
        delegation: "object",
        rejected: "flag",
        reject_status: "whole",
        reject_reason: "text",
        raw_claims: "object",
      },
    },
    secret: "raw_token",
  },
  token_delegate: {
    payload: {
      required: { target_name: "text" },
      optional: {
        target_type: "text",
        target_audience: "text",
        required_permissions: "texts",
        trust_domain: "text",
        auth_enforced_by: "text",
        route_attenuation: "object",
      },
    },
    answer: "result",
    result: {
      required: {},
      optional: {
        delegated_token: "text",
        delegation_update: "object",
        forwarded_headers: "textMap",
        cache_key: "text",
        cache_ttl: "whole",
      },
    },
    secret: "bearer_token",
    named: { member: "target_name", by: "tools" },
  },
  http_pre_request: { payload: HTTP_REQUEST, answer: "headers", into: "headers" },
  http_post_request: {
    payload: {
      required: HTTP_REQUEST.required,
      optional: { ...HTTP_REQUEST.optional, response_headers: "headers", status_code: "whole" },
    },
    answer: "headers",
    into: "response_headers",
  },
  http_auth_resolve_user: {
    payload: {
      required: { headers: "headers" },
      optional: { credentials: "object", client_host: "text", client_port: "whole" },
    },
    answer: "result",
  },
  http_auth_check_permission: {
    payload: {
      required: { user_email: "text", permission: "text" },
      optional: {
        resource_type: "text",
        team_id: "text",
        is_admin: "flag",
        auth_method: "text",
        client_host: "text",
        user_agent: "text",
      },
    },
    answer: "result",
    result: { required: { granted: "flag" }, optional: { reason: "text" } },
  },
  evaluate: MESSAGE,
};

/** The form of a hook: the prefix `cmf.` first, also of names that nobody knows yet; then the table; else any object. */
export function hookForm(hook: string): HookForm {
  if (hook.startsWith("cmf.")) return MESSAGE;
  return ownMember(FORMS, hook) ?? GENERIC;
}

/** Whether a result model has anything of its own: a plugin that sends the payload back instead has answered nothing. */
export function saysNothing(shape: PayloadShape, result: JsonObject): boolean {
  const known = [...Object.keys(shape.required), ...Object.keys(shape.optional)];
  return Object.keys(result).length > 0 && !known.some((name) => Object.hasOwn(result, name));
}

/** What a plugin's identity answer says against the caller. */
export function rejectionOf(hook: string, result: JsonObject): { status: number; reason: string } | undefined {
  if (hook !== "identity_resolve" || result["rejected"] !== true) return undefined;
  const { reject_status: status, reject_reason: reason } = result;
  return {
    status: typeof status === "number" ? status : 401,
    reason: typeof reason === "string" && reason !== "" ? reason : "the identity was rejected",
  };
}

/** The text in a payload that a condition of this hook is about. */
export function namedIn({ named }: HookForm, payload: JsonObject): string | undefined {
  const value = named === undefined || !isJsonObject(payload) ? undefined : payload[named.member];
  return typeof value === "string" && value !== "" ? value : undefined;
}
