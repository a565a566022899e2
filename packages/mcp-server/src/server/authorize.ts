import type { RequestContext } from "./context.js";
import type { Listed } from "./list.js";

/** Kinds of things that a permission is asked for. */
export type PermissionKind = "tool" | "prompt" | "resource" | "resourceTemplate";

/** What an authorizer is asked: may this principal use, or see, this thing? */
export interface PermissionQuestion<P> {
  readonly principal: P;
  /** As the registration names it. */
  readonly permission: string;
  readonly kind: PermissionKind;
  /** Tool or prompt name, address, or template. */
  readonly name: string;
}

/** Only `true` allows. Throwing denies, and is a `failure` for observers; the first time the process warns. */
export type Authorizer<P> = (question: PermissionQuestion<P>) => boolean | Promise<boolean>;

/** Asks about one thing that is about to be used. Answers at once when the authorizer does. */
export function isAllowed<P>(
  authorize: Authorizer<P> | undefined,
  context: RequestContext<P>,
  kind: PermissionKind,
  { name, permission }: Pick<Listed, "name" | "permission">,
): boolean | Promise<boolean> {
  if (authorize === undefined) return denied(context);
  try {
    const answer = authorize({ principal: context.principal, permission, kind, name });
    if (answer === true) return true;
    return answer === false ? denied(context) : isAllowedLater(answer, context);
  } catch (error) {
    return failed(context, error);
  }
}

async function isAllowedLater<P>(answer: Promise<boolean>, context: RequestContext<P>): Promise<boolean> {
  try {
    return (await answer) === true || denied(context);
  } catch (error) {
    return failed(context, error);
  }
}

function denied<P>(context: RequestContext<P>): false {
  context.outcome ??= "denied";
  return false;
}

/** What it threw may hold secrets and is no answer; the observers are told. */
function failed<P>(context: RequestContext<P>, error: unknown): false {
  context.outcome = "failure";
  context.authorizerFailure = { error };
  return false;
}

/** What is left out of a list does not make the list a denial. */
export function forgetDenial<P>(context: RequestContext<P>): void {
  if (context.outcome === "denied") context.outcome = undefined;
}

/** Which entries of a list the principal may see. */
export async function visibleOf<P>(
  authorize: Authorizer<P> | undefined,
  context: RequestContext<P>,
  kind: PermissionKind,
  entries: readonly Listed[],
): Promise<readonly boolean[]> {
  const visible = await Promise.all(entries.map((entry) => isAllowed(authorize, context, kind, entry)));
  forgetDenial(context);
  return visible;
}
