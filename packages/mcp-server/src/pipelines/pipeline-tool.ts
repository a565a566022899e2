import type { JsonObject, RequestId } from "@berth/jsonrpc-framing";
import { RegistrationError, type RegistrationProblem, ResultError } from "../errors.js";
import { isObject, type PlainObject } from "../json.js";
import { aFunction, aText, checkOptions, having, type OptionKinds, optional } from "../option-check.js";
import type { ToolDefinition } from "../server/definitions.js";
import { toolKinds } from "../server/registration-kinds.js";
import type { ArgumentsOf, SchemaSource } from "../server/schema-source.js";

/** One piece of work for a pipeline: for whom, what, and until when it is wanted. */
export interface PipelineRequest<P, A = JsonObject> {
  /** Which pipeline is meant, where one executor serves several. */
  readonly pipeline: string;
  /** Who asks: authenticated by the transport, and allowed to use the tool by the authorizer. Never read from the payload. */
  readonly identity: P;
  /** Valid by the tool's input schema, frozen. */
  readonly payload: A;
  /** Of the call, as the client chose it: unique among what the client has under way, not among clients. */
  readonly requestId: RequestId;
  /** Aborted when nobody wants the result any more: the client cancelled or is gone, or the task ended. */
  readonly signal: AbortSignal;
}

/** Does the work. Which worker, its queue, its lease and its cleanup are its own. */
export interface PipelineExecutor<P, A = JsonObject> {
  /** Resolves with the result once all of it is done. Should reject soon after the request's signal is aborted. */
  execute(request: PipelineRequest<P, A>): JsonObject | PlainObject | Promise<JsonObject | PlainObject>;
}

/** What `pipelineTool` accepts: a tool without its handler, and what does the work. */
export interface PipelineToolOptions<P, S extends SchemaSource = SchemaSource>
  extends Omit<ToolDefinition<P, S>, "handler"> {
  /** Default: the tool's name. */
  readonly pipeline?: string | undefined;
  readonly executor: PipelineExecutor<P, ArgumentsOf<S>>;
  /**
   * Whether the client may see this error of the executor: its message then is the content of a tool error. Default: none. All others propagate, as from any handler,
   * and so does whatever the executor throws once the signal is aborted. Throwing means no.
   */
  readonly isSafeError?: ((error: unknown) => boolean) | undefined;
}

/**
 * Exposes a pipeline as a tool: the arguments are its payload, its result is the tool's structured content.
 * The handler throws a {ResultError} when the executor resolves with what is no JSON object.
 * @throws {RegistrationError} for an option that does not exist or is something else. What all tools have in common is checked by `createMcpServer`.
 */
export function pipelineTool<P, const S extends SchemaSource = SchemaSource>(
  options: PipelineToolOptions<P, S>,
): ToolDefinition<P, S> {
  checkPipeline(options);
  const { executor, isSafeError, pipeline = options.name, ...tool } = options;
  return {
    ...tool,
    async handler({ arguments: payload, principal: identity, requestId, signal }) {
      let result: unknown;
      try {
        result = await executor.execute({ pipeline, identity, payload, requestId, signal });
      } catch (error) {
        if (signal.aborted || !isSafe(isSafeError, error)) throw error;
        const text = error instanceof Error ? error.message : String(error);
        return { content: [{ type: "text", text }], isError: true };
      }
      if (isObject(result)) return { structuredContent: result };
      throw new ResultError(`pipeline "${pipeline}" returned no JSON object`);
    },
  };
}

const { handler: _made, ...ofTool } = toolKinds;
const optionKinds: OptionKinds<PipelineToolOptions<unknown>> = {
  ...ofTool,
  pipeline: optional(aText),
  executor: having(["execute"], "an executor"),
  isSafeError: optional(aFunction),
};

function checkPipeline<P, S extends SchemaSource>(options: PipelineToolOptions<P, S>): void {
  const problems: RegistrationProblem[] = [];
  const where = typeof options?.name === "string" ? `pipelineTool ${JSON.stringify(options.name)}` : "pipelineTool";
  checkOptions(options, optionKinds, { fault: (message) => void problems.push({ where, message }) });
  if (problems.length > 0) throw new RegistrationError(problems);
}

/** Nobody gets what `isSafeError` threw: the error of the executor is what matters. */
function isSafe(isSafeError: ((error: unknown) => boolean) | undefined, error: unknown): boolean {
  try {
    return isSafeError?.(error) === true;
  } catch {
    return false; // it could not say that the error is safe
  }
}
