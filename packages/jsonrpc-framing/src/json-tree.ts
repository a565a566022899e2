import type { Refusal } from "./envelope-rules.js";
import type { JsonObject } from "./json-value.js";
import type { MessageOptions } from "./message.js";
import { type Range, readCount } from "./options.js";

const depth: Range = { min: 1, max: 10_000, default: 128 };

/** @throws {RangeError} for a `maxDepth` out of its range. */
export function readMaxDepth(options: MessageOptions | undefined): number {
  return readCount("maxDepth", options?.maxDepth, depth);
}

/**
 * Why a parsed value is refused for its nesting or its keys, if it is. Level by level, so deep values cost no stack.
 * @param known Its depth, when that is known already: then it is walked for its keys only, if at all.
 */
export function treeRefusal(
  root: JsonObject,
  options: MessageOptions | undefined,
  known?: number,
): Refusal | undefined {
  const maxDepth = readMaxDepth(options);
  const refuseProto = options?.protoKeys === "refuse";
  if (known !== undefined && known <= maxDepth && !refuseProto) return undefined;
  let level: readonly object[] = [root];
  for (let at = 1; level.length > 0; at++) {
    if (at > maxDepth) return { code: "JSON_TOO_DEEP", message: `nested more than ${maxDepth} levels` };
    if (refuseProto && level.some((node) => Object.hasOwn(node, "__proto__"))) {
      return { code: "PROTO_KEY", message: 'a key is "__proto__"' };
    }
    level = nextLevel(level);
  }
  return undefined;
}

/** The arrays and objects in these. */
export function nextLevel(level: readonly object[]): readonly object[] {
  const next: object[] = [];
  for (const node of level) {
    const children: readonly unknown[] = Array.isArray(node) ? node : Object.values(node);
    for (const child of children) if (typeof child === "object" && child !== null) next.push(child);
  }
  return next;
}
