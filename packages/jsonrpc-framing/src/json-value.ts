/** Any value that JSON can say. */
export type JsonValue = string | number | boolean | null | JsonArray | JsonObject;
/** A JSON array. */
export type JsonArray = readonly JsonValue[];
/** A JSON object, as `JSON.parse` makes it: `__proto__` is an ordinary own key. */
export interface JsonObject {
  readonly [key: string]: JsonValue | undefined;
}
