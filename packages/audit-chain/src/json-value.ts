/** Values that JSON can carry. Members that are `undefined` are left out, as `JSON.stringify` does. */
export type JsonValue =
  | string
  | number
  | boolean
  | null
  | readonly JsonValue[]
  | { readonly [member: string]: JsonValue | undefined };
