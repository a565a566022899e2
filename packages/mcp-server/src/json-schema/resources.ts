import type { JsonObject, JsonValue } from "@berth/jsonrpc-framing";
import { type Dialect, type Documents, readDialect } from "./dialect.js";
import { schemaFault } from "./errors.js";
import { copySchema } from "./json-copy.js";
import type { SchemaBounds } from "./limits.js";
import { metaSchemas } from "./meta-schema.js";
import { pointerTo, pointerTokens } from "./pointer.js";
import { quoted } from "./run.js";
import { childSchemas } from "./subschemas.js";
import { resolveUri, splitUri } from "./uri.js";
import { isArray, isObject } from "./values.js";

/** A schema with a URI of its own (Core § 4.3.5): a document, or a part with `$id`. */
export interface Resource {
  /** Absolute, without fragment. */
  readonly uri: string;
  readonly schema: JsonObject | boolean;
  /** JSON Pointer from the root of its document. */
  readonly pointer: string;
  readonly dialect: Dialect;
  /** Targets by plain name: those of `$anchor` and `$dynamicAnchor`. */
  readonly anchors: Map<string, Location>;
  readonly dynamicAnchors: Map<string, Location>;
}

/** One place where a schema stands; `pointer` is from the root of its document. */
export interface Location {
  readonly schema: JsonObject | boolean;
  readonly pointer: string;
  readonly resource: Resource;
}

/** All schemas that one compilation can reach: its own document's, and those of known documents once referred to. */
export interface Library {
  readonly root: Location;
  /** Every place found so far; grows when a reference leads into another known document. */
  readonly locations: readonly Location[];
  /** The target of a reference. @throws {SchemaError} `SCHEMA_REF`: there is none here, and nothing is fetched */
  locate(reference: string, from: Location, pointer: string): Location;
  /** The place of a schema that stands directly in another. */
  childOf(parent: Location, schema: JsonValue, pointer: string): Location;
}

/** The base of documents without `$id`; it is compared with, never opened. */
const unnamed = "schema:/";
const anchorName = /^[A-Za-z_][-A-Za-z0-9._]*$/;

export function createLibrary(schema: JsonValue, documents: Documents, bounds: SchemaBounds): Library {
  const resources = new Map<string, Resource>();
  const byObject = new Map<JsonObject, Location>();
  const locations: Location[] = [];

  const openResource = (value: JsonObject | boolean, uri: string, pointer: string, outer?: Resource): Resource => {
    const named = isObject(value) ? value["$schema"] : undefined;
    const dialect = named === undefined && outer !== undefined ? outer.dialect : readDialect(named, documents, pointer);
    const resource = { uri, schema: value, pointer, dialect, anchors: new Map(), dynamicAnchors: new Map() };
    if (resources.has(uri))
      throw schemaFault("SCHEMA_INVALID", pointer, `the URI ${quoted(uri)} is taken by another schema`);
    resources.set(uri, resource);
    return resource;
  };
  const resourceOf = (value: JsonObject | boolean, outer: Resource, pointer: string): Resource => {
    const id = isObject(value) ? value["$id"] : undefined;
    return id === undefined ? outer : openResource(value, readId(id, outer.uri, pointer), pointer, outer);
  };
  const register = (location: Location): Location => {
    locations.push(location);
    if (locations.length > bounds.maxSubschemas) {
      throw schemaFault(
        "SCHEMA_TOO_LARGE",
        location.pointer,
        `more than ${bounds.maxSubschemas} schemas (maxSubschemas)`,
      );
    }
    return location;
  };
  const walk = (value: JsonObject | boolean, resource: Resource, pointer: string): Location => {
    const location = register({ schema: value, pointer, resource });
    if (typeof value === "boolean") return location;
    byObject.set(value, location);
    readAnchors(location, value);
    for (const child of childSchemas(value, pointer)) {
      const inner = readSchema(child.schema, child.pointer);
      walk(inner, resourceOf(inner, resource, child.pointer), child.pointer);
    }
    return location;
  };
  const addDocument = (value: JsonValue, uri: string): Location => {
    const root = readSchema(value, "");
    const id = isObject(root) ? root["$id"] : undefined;
    const own = id === undefined ? uri : readId(id, uri, "");
    const resource = resources.get(own) ?? openResource(root, own, "");
    resources.set(uri, resource);
    return resource.schema === root
      ? walk(root, resource, "")
      : { schema: resource.schema, pointer: resource.pointer, resource };
  };
  const findResource = (uri: string): Resource | undefined => {
    const known = resources.get(uri);
    const document = documents.get(uri) ?? metaSchemas.get(uri);
    if (known !== undefined || document === undefined) return known;
    return addDocument(copySchema(document, bounds).value, uri).resource;
  };
  const follow = (resource: Resource, fragment: string): Location | undefined => {
    let value: JsonValue | undefined = resource.schema;
    let place: Location = { schema: resource.schema, pointer: resource.pointer, resource };
    let pointer = resource.pointer;
    for (const token of pointerTokens(fragment)) {
      value = memberOf(value, token);
      pointer = pointerTo(pointer, token);
      if (isObject(value)) place = byObject.get(value) ?? place;
    }
    if (isObject(value)) return byObject.get(value) ?? walk(value, resourceOf(value, place.resource, pointer), pointer);
    return typeof value === "boolean" ? { schema: value, pointer, resource: place.resource } : undefined;
  };
  const locate = (reference: string, from: Location, pointer: string): Location => {
    const [uri, fragment] = splitUri(resolveUri(reference, from.resource.uri, pointer), pointer);
    const resource = findResource(uri);
    if (resource === undefined) {
      throw schemaFault(
        "SCHEMA_REF",
        pointer,
        `${quoted(reference)} is outside of the schema and of the known documents; nothing is fetched`,
      );
    }
    const target =
      fragment === "" || fragment.startsWith("/") ? follow(resource, fragment) : resource.anchors.get(fragment);
    if (target === undefined) throw schemaFault("SCHEMA_REF", pointer, `${quoted(reference)} has no target`);
    return target;
  };
  const childOf = (parent: Location, value: JsonValue, pointer: string): Location => {
    const inner = readSchema(value, pointer);
    return (isObject(inner) ? byObject.get(inner) : undefined) ?? { schema: inner, pointer, resource: parent.resource };
  };
  return { root: addDocument(schema, unnamed), locations, locate, childOf };
}

function readSchema(value: JsonValue, pointer: string): JsonObject | boolean {
  if (typeof value === "boolean" || isObject(value)) return value;
  throw schemaFault("SCHEMA_INVALID", pointer, "a schema must be an object, true or false");
}

function readId(id: JsonValue, base: string, pointer: string): string {
  const place = pointerTo(pointer, "$id");
  if (typeof id !== "string") throw schemaFault("SCHEMA_INVALID", place, "must be a string");
  const [uri, fragment] = splitUri(resolveUri(id, base, place), place);
  if (fragment !== "") throw schemaFault("SCHEMA_INVALID", place, "must have no fragment; use $anchor");
  return uri;
}

function readAnchors(location: Location, schema: JsonObject): void {
  const { anchors, dynamicAnchors } = location.resource;
  for (const keyword of ["$anchor", "$dynamicAnchor"]) {
    const name = schema[keyword];
    if (name === undefined) continue;
    const place = pointerTo(location.pointer, keyword);
    if (typeof name !== "string" || !anchorName.test(name))
      throw schemaFault("SCHEMA_INVALID", place, "must be a plain name");
    const taken = anchors.get(name);
    if (taken !== undefined && taken !== location)
      throw schemaFault("SCHEMA_INVALID", place, `${quoted(name)} is taken by another schema`);
    anchors.set(name, location);
    if (keyword === "$dynamicAnchor") dynamicAnchors.set(name, location);
  }
}

function memberOf(value: JsonValue | undefined, token: string): JsonValue | undefined {
  if (isArray(value)) return /^(?:0|[1-9][0-9]*)$/.test(token) ? value[Number(token)] : undefined;
  return isObject(value) && Object.hasOwn(value, token) ? value[token] : undefined;
}
