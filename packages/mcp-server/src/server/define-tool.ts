import type { ResultOf, ToolCall, ToolDefinition } from "./definitions.js";
import type { ArgumentsOf, SchemaSource } from "./schema-source.js";

/** A tool as `defineTool` takes it. `R` is what its handler returns, to the letter: "EUR" is no mere string. */
export interface ToolDraft<P, S extends SchemaSource, O extends SchemaSource | undefined, R extends ResultOf<O>>
  extends Omit<ToolDefinition<P, S, O>, "handler"> {
  handler(call: ToolCall<P, ArgumentsOf<S>>): R | Promise<R>;
}

/** Gives a tool the types that its schemas say, from which its handler's arguments and result have theirs. Returns it as it is. */
export function defineTool<
  P,
  const S extends SchemaSource,
  const O extends SchemaSource | undefined = SchemaSource | undefined,
  const R extends ResultOf<O> = ResultOf<O>,
>(definition: ToolDraft<P, S, O, R>): ToolDefinition<P, S, O> {
  return definition;
}

/** `defineTool` for principals of one type: `const defineTool = toolsFor<User>()`. */
export function toolsFor<P>(): DefineTool<P> {
  return defineTool;
}

/** See `toolsFor`. */
export type DefineTool<P> = <
  const S extends SchemaSource,
  const O extends SchemaSource | undefined = SchemaSource | undefined,
  const R extends ResultOf<O> = ResultOf<O>,
>(
  definition: ToolDraft<P, S, O, R>,
) => ToolDefinition<P, S, O>;
