/** Templates and addresses beyond these lengths match nothing: the time to match is their product. */
export const maxTemplateLength = 512;
const maxUriLength = 4_096;

/** Whether a URI could have come from a URI template. */
export type TemplateMatcher = (uri: string) => boolean;

// Steps of the automaton: a UTF-16 code unit to be met, or one of these.
const oneInSegment = -1;
const oneOfAny = -2;
const runInSegment = -3;
const runOfAny = -4;
const slash = 0x2f;

/**
 * Compiles an RFC 6570 template to a matcher that takes time proportional to the lengths of template and URI: all states advance together,
 * nothing is tried twice, and no regular expression is made from what a server sent (GHSA-8r9q-7v3j-jr4g).
 *
 * It is for routing, so it is lenient: `{x}` stands for any non-empty run without `/`, `{+x}` and `{#x}` for any non-empty run, `{/x}` and
 * `{.x}` begin with their mark, `{?x}`, `{&x}` and `{;x}` may be absent. Undefined when an expression is not closed, or the template is
 * longer than 512 characters. URIs longer than 4,096 match nothing.
 */
export function compileTemplate(template: string): TemplateMatcher | undefined {
  if (template.length > maxTemplateLength) return undefined;
  const steps = readSteps(template);
  return steps && ((uri) => uri.length <= maxUriLength && matches(steps, uri));
}

function readSteps(template: string): number[] | undefined {
  const steps: number[] = [];
  for (let at = 0; at < template.length; ) {
    const open = template.indexOf("{", at);
    const literalEnd = open === -1 ? template.length : open;
    for (let index = at; index < literalEnd; index += 1) steps.push(template.charCodeAt(index));
    if (open === -1) break;
    const close = template.indexOf("}", open);
    if (close === -1) return undefined;
    steps.push(...expressionSteps(template.slice(open + 1, close)));
    at = close + 1;
  }
  return steps;
}

function expressionSteps(expression: string): number[] {
  const operator = expression[0] ?? "";
  if (operator === "+" || operator === "#") return [oneOfAny, runOfAny];
  // A query may be absent as a whole, and other parameters may stand between.
  if (operator === "?" || operator === "&" || operator === ";") return [runOfAny];
  const exploded = operator === "/" && expression.includes("*");
  const value = exploded ? [oneOfAny, runOfAny] : [oneInSegment, runInSegment];
  return operator === "/" || operator === "." ? [operator.charCodeAt(0), ...value] : value;
}

/** Runs all states of the automaton over the URI at once. */
function matches(steps: readonly number[], uri: string): boolean {
  let states = new Uint8Array(steps.length + 1);
  let next = new Uint8Array(steps.length + 1);
  states[0] = 1;
  leaveRuns(steps, states);
  for (let at = 0; at < uri.length; at += 1) {
    advance(steps, states, next, uri.charCodeAt(at));
    leaveRuns(steps, next);
    [states, next] = [next, states];
    next.fill(0);
  }
  return states[steps.length] === 1;
}

function advance(steps: readonly number[], states: Uint8Array, next: Uint8Array, code: number): void {
  const inSegment = code !== slash;
  for (let index = 0; index < steps.length; index += 1) {
    if (states[index] !== 1) continue;
    const step = steps[index];
    if (step === runOfAny || (step === runInSegment && inSegment)) next[index] = 1;
    else if (step === code || step === oneOfAny || (step === oneInSegment && inSegment)) next[index + 1] = 1;
  }
}

/** A run takes any number of characters, none included, so what follows it is reached with it. */
function leaveRuns(steps: readonly number[], states: Uint8Array): void {
  for (let index = 0; index < steps.length; index += 1) {
    const step = steps[index];
    if (states[index] === 1 && (step === runOfAny || step === runInSegment)) states[index + 1] = 1;
  }
}
