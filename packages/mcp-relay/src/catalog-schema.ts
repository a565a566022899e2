import type { DocumentPath } from "./catalog-document.js";

/**
 * The part of JSON Schema 2020-12 that `schema/catalog.schema.json` uses. The published schema is itself what the reader
 * checks with, so the two cannot differ; this interpreter generates no code and costs no start time, and is compared with
 * ajv in the tests.
 */
export interface CatalogSchema {
  readonly $ref?: string;
  readonly $defs?: Readonly<Record<string, CatalogSchema>>;
  /** Says what would be right; the text of the problem. */
  readonly description?: string;
  /** The value is never shown in a problem. */
  readonly writeOnly?: boolean;
  readonly type?: string | readonly string[];
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly pattern?: string;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, CatalogSchema>>;
  readonly propertyNames?: CatalogSchema;
  readonly additionalProperties?: boolean | CatalogSchema;
  readonly maxProperties?: number;
  readonly items?: CatalogSchema;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly uniqueItems?: boolean;
  readonly allOf?: readonly CatalogSchema[];
  readonly if?: CatalogSchema;
  readonly then?: CatalogSchema;
  readonly not?: CatalogSchema;
}

/** One place where a value does not fit. `place` says whether the key or the value is meant. */
export interface SchemaMismatch {
  readonly path: DocumentPath;
  readonly message: string;
  readonly place: "value" | "key";
}

/** Every mismatch of `value`, in the order of the schema. */
export function findMismatches(value: unknown, schema: CatalogSchema): SchemaMismatch[] {
  const found: SchemaMismatch[] = [];
  check({ root: schema, found }, value, schema, []);
  return found;
}

interface Run {
  readonly root: CatalogSchema;
  readonly found: SchemaMismatch[];
}

function check(run: Run, value: unknown, schema: CatalogSchema, path: DocumentPath): void {
  const target = schema.$ref === undefined ? undefined : resolve(run.root, schema.$ref);
  const text = schema.description ?? target?.description;
  const report = (message: string): void => {
    run.found.push({ path, place: "value", message });
  };
  const shown = schema.writeOnly === true ? "what is there now" : show(value);
  if (target !== undefined) check(run, value, text === undefined ? target : { ...target, description: text }, path);
  for (const part of schema.allOf ?? []) check(run, value, part, path);
  if (schema.if !== undefined && schema.then !== undefined && fits(run, value, schema.if)) {
    check(run, value, schema.then, path);
  }
  if (schema.not !== undefined && fits(run, value, schema.not))
    report(`must be left out: ${text ?? "not allowed here"}`);
  if (schema.type !== undefined && ![schema.type].flat().some((type) => isType(value, type))) {
    report(`must be ${expectation(text, schema.type)}, not ${shown}`);
    return;
  }
  if (!isListed(value, schema)) report(`must be ${listed(schema, text)}, not ${shown}`);
  if (typeof value === "string" && !isFittingText(value, schema)) {
    report(`must be ${text ?? `a text matching ${schema.pattern}`}, not ${shown}`);
  }
  if (typeof value === "number" && !isFittingNumber(value, schema)) {
    report(`must be ${text ?? `${schema.minimum} to ${schema.maximum}`}, not ${shown}`);
  }
  if (Array.isArray(value)) checkList(run, value, schema, path, report);
  else if (isObject(value)) checkObject(run, value, schema, path, report);
}

function fits(run: Run, value: unknown, schema: CatalogSchema): boolean {
  const found: SchemaMismatch[] = [];
  check({ root: run.root, found }, value, schema, []);
  return found.length === 0;
}

function resolve(root: CatalogSchema, reference: string): CatalogSchema {
  const schema = root.$defs?.[reference.replace("#/$defs/", "")];
  if (schema === undefined) throw new Error(`the schema has no ${reference}`);
  return schema;
}

function isFittingText(value: string, schema: CatalogSchema): boolean {
  if (schema.pattern !== undefined && !new RegExp(schema.pattern, "u").test(value)) return false;
  const { minLength = 0, maxLength = Number.POSITIVE_INFINITY } = schema;
  // Lengths are in code points, as the specification says: at most and at least half of the UTF-16 units.
  if (value.length <= maxLength && value.length >= minLength * 2) return true;
  if (value.length > maxLength * 2 || value.length < minLength) return false;
  const length = [...value].length;
  return length >= minLength && length <= maxLength;
}

function isFittingNumber(value: number, schema: CatalogSchema): boolean {
  return value >= (schema.minimum ?? Number.NEGATIVE_INFINITY) && value <= (schema.maximum ?? Number.POSITIVE_INFINITY);
}

function checkList(
  run: Run,
  value: readonly unknown[],
  schema: CatalogSchema,
  path: DocumentPath,
  report: (message: string) => void,
): void {
  if (value.length < (schema.minItems ?? 0)) report(`must have at least ${schema.minItems} entries`);
  if (value.length > (schema.maxItems ?? Number.POSITIVE_INFINITY)) {
    report(`must have at most ${schema.maxItems} entries, not ${value.length}`);
    return;
  }
  const { items } = schema;
  if (items !== undefined) for (const [index, item] of value.entries()) check(run, item, items, [...path, index]);
  if (schema.uniqueItems === true) checkUnique(run, value, path);
}

function checkUnique(run: Run, value: readonly unknown[], path: DocumentPath): void {
  // The schema asks for uniqueness of strings only, so identity is equality.
  const seen = new Set<unknown>();
  for (const [index, item] of value.entries()) {
    if (seen.has(item)) {
      run.found.push({ path: [...path, index], place: "value", message: `${show(item)} occurs twice in this list` });
    }
    seen.add(item);
  }
}

function checkObject(
  run: Run,
  value: Readonly<Record<string, unknown>>,
  schema: CatalogSchema,
  path: DocumentPath,
  report: (message: string) => void,
): void {
  const keys = Object.keys(value);
  if (keys.length > (schema.maxProperties ?? Number.POSITIVE_INFINITY)) {
    report(`must have at most ${schema.maxProperties} keys, not ${keys.length}`);
    return;
  }
  for (const key of schema.required ?? []) {
    if (!Object.hasOwn(value, key)) report(`${key} is missing`);
  }
  for (const key of keys) checkMember(run, value[key], key, schema, [...path, key]);
}

function checkMember(run: Run, value: unknown, key: string, schema: CatalogSchema, path: DocumentPath): void {
  if (schema.propertyNames !== undefined) {
    const names: SchemaMismatch[] = [];
    check({ root: run.root, found: names }, key, schema.propertyNames, path);
    run.found.push(
      ...names.map((mismatch) => ({ ...mismatch, place: "key" as const, message: `the key ${mismatch.message}` })),
    );
  }
  const known = own(schema.properties, key);
  const { additionalProperties } = schema;
  if (known !== undefined) check(run, value, known, path);
  else if (typeof additionalProperties === "object") check(run, value, additionalProperties, path);
  else if (additionalProperties === false) {
    run.found.push({
      path,
      place: "key",
      message: `unknown key; known here: ${Object.keys(schema.properties ?? {}).join(", ")}`,
    });
  }
}

function own<T>(record: Readonly<Record<string, T>> | undefined, key: string): T | undefined {
  return record !== undefined && Object.hasOwn(record, key) ? record[key] : undefined;
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isType(value: unknown, type: string): boolean {
  if (type === "object") return isObject(value);
  if (type === "array") return Array.isArray(value);
  if (type === "integer") return Number.isInteger(value);
  return typeof value === type;
}

function isListed(value: unknown, schema: CatalogSchema): boolean {
  if (schema.const !== undefined && value !== schema.const) return false;
  return schema.enum === undefined || schema.enum.includes(value);
}

function listed(schema: CatalogSchema, text: string | undefined): string {
  const values = (schema.enum ?? [schema.const]).map((value) => JSON.stringify(value)).join(", ");
  return text === undefined ? values : `${values} (${text})`;
}

function expectation(text: string | undefined, type: string | readonly string[]): string {
  if (text !== undefined) return text;
  const [first = ""] = [type].flat();
  return /^[aeio]/u.test(first) ? `an ${first}` : `a ${first}`;
}

/** A value in a message: short, on one line. Values may be secrets, so texts are cut after a few characters. */
function show(value: unknown): string {
  if (isObject(value)) return "an object";
  if (Array.isArray(value)) return "a list";
  if (typeof value !== "string") return String(value);
  const shown = [...value].slice(0, 12).join("");
  return shown === value ? JSON.stringify(value) : `${JSON.stringify(shown)}…`;
}
