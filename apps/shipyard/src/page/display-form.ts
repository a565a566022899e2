/** How a display is shown: one of its forms, the first of these that it has. */
export type DisplayForm =
  | { readonly kind: "image"; readonly source: string; readonly text: string }
  | { readonly kind: "page"; readonly html: string }
  | { readonly kind: "json"; readonly value: unknown }
  | { readonly kind: "text"; readonly text: string };

const pictures = ["image/png", "image/jpeg", "image/gif", "image/webp"] as const;

/**
 * Pictures are `data:` URLs for an `img`, where neither scripts nor addresses of an SVG count. What is not what it says it is is
 * shown as text.
 */
export function displayForm(data: Readonly<Record<string, string>>): DisplayForm {
  const text = data["text/plain"] ?? "";
  const svg = data["image/svg+xml"];
  if (svg !== undefined) return { kind: "image", source: svgSource(svg), text };
  for (const type of pictures) {
    const base64 = data[type]?.replace(/\s+/g, "");
    if (base64 !== undefined && isBase64(base64))
      return { kind: "image", source: `data:${type};base64,${base64}`, text };
  }
  const html = data["text/html"];
  if (html !== undefined) return { kind: "page", html };
  const json = tryJson(data["application/json"]);
  if (json !== undefined) return { kind: "json", value: json.value };
  const [type = "", other = ""] = Object.entries(data)[0] ?? [];
  return { kind: "text", text: text === "" && type !== "" && type !== "text/plain" ? `${type}: ${other}` : text };
}

function svgSource(svg: string): string {
  // Half of a surrogate pair has no bytes.
  return `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svg.replace(/\p{Surrogate}/gu, "\ufffd"))}`;
}

function isBase64(text: string): boolean {
  return text.length > 0 && text.length % 4 === 0 && /^[A-Za-z0-9+/]+={0,2}$/.test(text);
}

function tryJson(text: string | undefined): { readonly value: unknown } | undefined {
  if (text === undefined) return undefined;
  try {
    return { value: JSON.parse(text) };
  } catch {
    return undefined; // shown as text
  }
}
