// A second opinion, written from JSON-RPC 2.0 §§ 4 and 5 without the source beside it, and on JSON.parse.

/** What a message is, or the code with which it is refused. */
export type Verdict =
  | {
      readonly kind: "request" | "notification" | "response" | "error";
      readonly id: string | number | undefined;
      readonly value: ReadonlyMap<string, unknown>;
    }
  | { readonly code: string };

/** The verdict on a text that is JSON. `exactIds` refuses integers that a double cannot tell apart. */
export function judge(text: string, exactIds: boolean): Verdict {
  const parsed: unknown = JSON.parse(text);
  if (Array.isArray(parsed)) return { code: "BATCH_REFUSED" };
  if (typeof parsed !== "object" || parsed === null) return { code: "MESSAGE_INVALID" };
  const value = new Map<string, unknown>(Object.entries(parsed));
  const integer = exactIds ? Number.isSafeInteger : Number.isInteger;
  const id = value.get("id");
  const goodId = typeof id === "string" || integer(id);
  const shown = typeof id === "string" || typeof id === "number" ? id : undefined;
  if (value.get("jsonrpc") !== "2.0") return { code: "MESSAGE_INVALID" };
  if (value.has("method")) {
    const method = value.get("method");
    const params = value.get("params");
    if (typeof method !== "string" || method.length === 0) return { code: "MESSAGE_INVALID" };
    if (value.has("result") || value.has("error")) return { code: "MESSAGE_INVALID" };
    if (value.has("params") && (typeof params !== "object" || params === null)) return { code: "MESSAGE_INVALID" };
    if (!value.has("id")) return { kind: "notification", id: undefined, value };
    return goodId ? { kind: "request", id: shown, value } : { code: "ID_INVALID" };
  }
  if (value.has("result") === value.has("error")) return { code: "MESSAGE_INVALID" };
  if (value.has("result")) return goodId ? { kind: "response", id: shown, value } : { code: "ID_INVALID" };
  if (value.has("id") && id !== null && !goodId) return { code: "ID_INVALID" };
  const error = value.get("error");
  const fields = new Map<string, unknown>(typeof error === "object" && error !== null ? Object.entries(error) : []);
  const isError =
    !Array.isArray(error) && Number.isInteger(fields.get("code")) && typeof fields.get("message") === "string";
  return isError ? { kind: "error", id: goodId ? shown : undefined, value } : { code: "MESSAGE_INVALID" };
}

/** Whether `text` is one value with every string closed and every bracket closed by its own kind at the very end. */
export function isClosed(text: string): boolean {
  if (!/^["[{]/.test(text)) return false;
  const wants: string[] = [];
  for (let i = 0; i < text.length; i++) {
    const letter = text[i];
    if (wants.at(-1) === '"') {
      if (letter === "\\") i++;
      else if (letter === '"') wants.pop();
    } else if (letter === '"') wants.push('"');
    else if (letter === "{") wants.push("}");
    else if (letter === "[") wants.push("]");
    else if (letter === "}" || letter === "]") {
      if (wants.pop() !== letter) return false;
    }
    if (wants.length === 0) return i === text.length - 1;
  }
  return false;
}
