const INDICATOR = /[-?:](?=\s|$)/gu;

/**
 * How deep a YAML text nests at most, found without recursion: the parser descends one call a level, and a text of
 * `- - - …` is deep enough to end the process. Never less than the depth; more where a text only looks like nesting.
 */
export function yamlNesting(text: string): number {
  return Math.max(openBrackets(text), nestedBlocks(text));
}

function openBrackets(text: string): number {
  let open = 0;
  let most = 0;
  for (const character of text) {
    if (character === "[" || character === "{") open += 1;
    else if ((character === "]" || character === "}") && open > 0) open -= 1;
    if (open > most) most = open;
  }
  return most;
}

/** Each line opens as many blocks as it has indicators, and at least one, until a line stands no further in than it. */
function nestedBlocks(text: string): number {
  const outer: { readonly indent: number; readonly blocks: number }[] = [];
  let depth = 0;
  let most = 0;
  for (const line of text.split(/\r\n|\n|\r/u)) {
    const indent = line.search(/\S/u);
    if (indent === -1) continue;
    for (let last = outer.at(-1); last !== undefined && last.indent >= indent; last = outer.at(-1)) {
      outer.pop();
      depth -= last.blocks;
    }
    const blocks = Math.max(1, line.match(INDICATOR)?.length ?? 0);
    outer.push({ indent, blocks });
    depth += blocks;
    if (depth > most) most = depth;
  }
  return most;
}
