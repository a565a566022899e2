/** One requirement in its normal form. */
export interface Requirement {
  readonly text: string;
  /** `--hash=…` and other options of this one requirement, sorted. */
  readonly options: readonly string[];
}

/** PEP 503. */
export function normalName(name: string): string {
  return name.toLowerCase().replace(/[-_.]+/g, "-");
}

/** The URL of `NAME @ URL`, of a requirement in its normal form. */
export function directUrlOf(text: string): string | undefined {
  return /^[^\s;]+ @ (\S+)/.exec(text)?.[1];
}

/** Cuts what follows the first ` --` and brings both parts into their normal form. Undefined: no requirement. */
export function readRequirement(line: string): Requirement | undefined {
  const [spec = "", ...rest] = line.split(/\s+(?=--)/);
  const options = rest.map((option) => option.trim().replace(/^(--[a-z-]+)[\s=]+/, "$1="));
  if (options.some((option) => !/^--(hash|config-settings?|global-option)=\S/.test(option))) return undefined;
  const text = normalSpec(spec.trim());
  return text === undefined ? undefined : { text, options: [...new Set(options)].sort() };
}

/** `Foo.Bar [b,a] >= 2, <3 ; python_version>"3"` as `foo-bar[a,b]<3,>=2 ; python_version>"3"` (PEP 508). */
function normalSpec(spec: string): string | undefined {
  const match = /^([A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?)\s*(?:\[([^\]]*)\])?\s*(.*)$/s.exec(spec);
  if (match === null) return undefined;
  const [, name = "", extras, rest = ""] = match;
  const named = normalName(name) + (extras === undefined ? "" : `[${sortedParts(extras).map(normalName).join(",")}]`);
  if (rest.startsWith("@")) {
    const url = rest.slice(1).trim();
    return /^[a-z][a-z0-9+.-]*:\S/i.test(url) ? `${named} @ ${url}` : undefined;
  }
  const cut = rest.indexOf(";");
  const versions = cut === -1 ? rest : rest.slice(0, cut);
  const marker = cut === -1 ? "" : collapsed(rest.slice(cut + 1).trim());
  const specifiers = sortedParts(
    versions
      .trim()
      .replace(/^\((.*)\)$/, "$1")
      .replace(/\s+/g, ""),
  );
  if (!specifiers.every((specifier) => /^(===|==|~=|!=|<=|>=|<|>)[A-Za-z0-9.*+!_-]+$/.test(specifier)))
    return undefined;
  return named + specifiers.join(",") + (marker === "" ? "" : ` ; ${marker}`);
}

function sortedParts(text: string): readonly string[] {
  return text
    .split(",")
    .map((part) => part.trim())
    .filter((part) => part !== "")
    .sort();
}

/** White space outside quotes counts as one space. */
function collapsed(marker: string): string {
  return marker.replace(/"[^"]*"|'[^']*'|\s+/g, (part) => (/^\s/.test(part) ? " " : part));
}
