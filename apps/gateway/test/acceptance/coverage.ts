/** Finds what a server lists and an interview left out. */
import type { Step } from "./interview.js";
import { listMethods } from "./interview.js";

type Answer = { readonly result?: Readonly<Record<string, unknown>> };

const members = {
  "tools/list": ["tools", "name", "tools/call"],
  "prompts/list": ["prompts", "name", "prompts/get"],
  "resources/list": ["resources", "uri", "resources/read"],
  "resources/templates/list": ["resourceTemplates", "uriTemplate", "resources/read"],
} as const;

/** The named list inside an answer, or undefined when the server has no such method. */
export function listIn(line: string, kind: string): readonly unknown[] | undefined {
  const { result }: Answer = JSON.parse(line);
  const list = result?.[kind];
  return Array.isArray(list) ? list : undefined;
}

const succeeded = ({ answer }: Step): boolean => {
  const { result }: Answer = JSON.parse(answer);
  return result !== undefined && result["isError"] !== true;
};

const literal = (text: string): string => text.replaceAll(/[\\^$.*+?()[\]{}|]/g, "\\$&");
/** Whether a URI is an instance of a template whose variables are plain `{name}`. */
const instanceOf = (template: string): RegExp =>
  new RegExp(
    `^${template
      .split(/\{[^}]*\}/)
      .map(literal)
      .join("[^/]+")}$`,
  );

/** Every listed tool, prompt, resource and template that was not asked for with success, before or after the calls. */
export function leftOut(steps: readonly Step[]): readonly string[] {
  const done = steps.filter(succeeded).map(({ asked }) => asked);
  return listMethods.flatMap((method) => {
    const [kind, key, verb] = members[method];
    const lists = steps.filter(({ asked }) => asked.startsWith(method));
    const names = lists.flatMap(({ answer }) =>
      (listIn(answer, kind) ?? []).map((entry) => String(Object(entry)[key])),
    );
    const asked = done.filter((each) => each.startsWith(`${verb} `)).map((each) => each.slice(verb.length + 1));
    const reached = (name: string): boolean =>
      kind === "resourceTemplates" ? asked.some((uri) => instanceOf(name).test(uri)) : asked.includes(name);
    return [...new Set(names)].filter((name) => !reached(name)).map((name) => `${kind}: ${name}`);
  });
}
