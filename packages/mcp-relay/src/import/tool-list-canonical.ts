import { hash } from "node:crypto";
import { type Node, parseTree } from "jsonc-parser";

/**
 * The digest that the cmcp gateway writes as `definition_hash`: SHA-256 over Python's
 * `json.dumps(value, sort_keys=True, separators=(",", ":"))`. Worked from the text, since `1` and `1.0` differ there.
 */
export function toolListDigest(text: string): string | undefined {
  const root = parseTree(text);
  return root === undefined ? undefined : `sha256:${hash("sha256", canonical(root, text), "hex")}`;
}

function canonical(node: Node, text: string): string {
  const children = node.children ?? [];
  if (node.type === "array") return `[${children.map((child) => canonical(child, text)).join(",")}]`;
  if (node.type === "object") {
    const members = children.map((property) => ({ key: keyOf(property), value: property.children?.[1] }));
    members.sort((a, b) => compareCodePoints(a.key, b.key));
    const shown = members.map(
      ({ key, value }) => `${escaped(key)}:${value === undefined ? "null" : canonical(value, text)}`,
    );
    return `{${shown.join(",")}}`;
  }
  if (node.type === "string") return escaped(String(node.value));
  const literal = text.slice(node.offset, node.offset + node.length);
  return node.type === "number" ? pythonNumber(literal) : literal;
}

function keyOf(property: Node): string {
  return String(property.children?.[0]?.value ?? "");
}

/** Python orders by code point, JavaScript by UTF-16 unit: they differ for astral characters. */
function compareCodePoints(a: string, b: string): number {
  const left = [...a];
  const right = [...b];
  for (let index = 0; index < Math.min(left.length, right.length); index += 1) {
    const difference = (left[index]?.codePointAt(0) ?? 0) - (right[index]?.codePointAt(0) ?? 0);
    if (difference !== 0) return difference;
  }
  return left.length - right.length;
}

/** JSON.stringify and then ASCII only, as Python writes by default. */
function escaped(value: string): string {
  return JSON.stringify(value)
    .replace(/[\u007f-\uffff]/gu, (unit) => unicodeEscape(unit))
    .replace(/[\u{10000}-\u{10ffff}]/gu, (pair) => unicodeEscape(pair.slice(0, 1)) + unicodeEscape(pair.slice(1)));
}

function unicodeEscape(unit: string): string {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`;
}

/** An integer keeps its digits; anything else is a double in Python's spelling: `1.0`, `1e-05`, `1e+16`. */
function pythonNumber(literal: string): string {
  if (/^-?\d+$/u.test(literal)) return literal === "-0" ? "0" : literal;
  const value = Number(literal);
  const [mantissa = "", exponentText = "0"] = value.toExponential().split("e");
  const exponent = Number(exponentText);
  if (exponent < -4 || exponent >= 16) {
    const sign = exponent < 0 ? "-" : "+";
    return `${mantissa}e${sign}${String(Math.abs(exponent)).padStart(2, "0")}`;
  }
  const plain = expanded(mantissa, exponent);
  const shown = plain.includes(".") ? plain : `${plain}.0`;
  return Object.is(value, -0) ? `-${shown}` : shown;
}

/** Moves the point without changing a digit, as `toFixed` would beyond 2^53. */
function expanded(mantissa: string, exponent: number): string {
  const sign = mantissa.startsWith("-") ? "-" : "";
  const digits = mantissa.replace(/[-.]/gu, "");
  if (exponent < 0) return `${sign}0.${"0".repeat(-exponent - 1)}${digits}`;
  const whole = digits.slice(0, exponent + 1).padEnd(exponent + 1, "0");
  const fraction = digits.slice(exponent + 1);
  return fraction === "" ? sign + whole : `${sign}${whole}.${fraction}`;
}
