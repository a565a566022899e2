export type { Era, ServedRevisions } from "./era.js";
export {
  isRpcError,
  type McpServerErrorCode,
  RegistrationError,
  type RegistrationProblem,
  ResultError,
  RpcError,
  type RpcErrorDetails,
} from "./errors.js";
export type { JsonLike, PlainObject } from "./json.js";
export type { SchemaLimits } from "./json-schema/index.js";
export {
  type PipelineExecutor,
  type PipelineRequest,
  type PipelineToolOptions,
  pipelineTool,
} from "./pipelines/pipeline-tool.js";
export type { LegacyRevision, ModernRevision, ProtocolRevision } from "./revisions.js";
export type { EncodedAnswer, JsonRpcError, JsonRpcResponse } from "./server/answer.js";
export type { Authorizer, PermissionKind, PermissionQuestion } from "./server/authorize.js";
export type { Connection, ConnectionOptions, Delivery } from "./server/connection.js";
export type { ContentBlock, Icon, PromptMessage, ResourceContents } from "./server/content.js";
export { createMcpServer, type HandleContext, type McpServer } from "./server/create-server.js";
export { type DefineTool, defineTool, type ToolDraft, toolsFor } from "./server/define-tool.js";
export type {
  Completer,
  CompletionCall,
  LogLevel,
  PromptArgument,
  PromptCall,
  PromptDefinition,
  PromptResult,
  ReadResult,
  Registration,
  RequestScope,
  ResourceAnnotations,
  ResourceCall,
  ResourceDefinition,
  ResourceTemplateDefinition,
  ResultOf,
  StructuredResult,
  ToolAnnotations,
  ToolCall,
  ToolDefinition,
  ToolOutput,
  ToolResult,
} from "./server/definitions.js";
export type { ForJsonSchema, FromJsonSchema } from "./server/from-json-schema.js";
export type { Instrumentation, InstrumentedRequest, RequestStart } from "./server/instrument.js";
export type { McpServerLimits } from "./server/limits.js";
export type { Observer, Outcome, RequestEvent } from "./server/observers.js";
export type {
  CacheHints,
  McpServerOptions,
  McpServerSettings,
  PrincipalNaming,
  RequestStateSettings,
} from "./server/options.js";
export type {
  ElicitationAnswer,
  InputAnswer,
  InputAnswers,
  InputQuestion,
  InputRequest,
} from "./server/questions.js";
export type { RelayedPrompt } from "./server/relayed-prompt.js";
export type { RelayedAddresses, RelayedResource, RelayedResourceTemplate } from "./server/relayed-resource.js";
export type { RelayedCall } from "./server/relayed-rounds.js";
export type { RelayedTool } from "./server/relayed-tool.js";
export type { ServerIdentity } from "./server/render.js";
export type {
  ArgumentsOf,
  SchemaSource,
  StandardIssue,
  StandardResult,
  StandardSchema,
  StructuredOf,
} from "./server/schema-source.js";
export type { ChangedKind } from "./server/subscriptions.js";
export type { TraceContext } from "./server/trace.js";
export type { TaskLimits } from "./tasks/limits.js";
export type { FailedTask, TaskSettings, TaskSupport, ToolTask } from "./tasks/settings.js";
export type { TaskStore } from "./tasks/store.js";
