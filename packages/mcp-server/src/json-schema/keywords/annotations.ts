/** Keywords that never fail, of which only the form is checked: one of the wrong type is a slip of its author. */
import { type Place, readFlag, readList, readMap, readText } from "../place.js";

const texts = ["$comment", "title", "description", "format", "contentEncoding", "contentMediaType"];
const flags = ["deprecated", "readOnly", "writeOnly"];

/** @throws {SchemaError} `SCHEMA_INVALID` */
export function checkAnnotations(place: Place): undefined {
  for (const keyword of texts) readText(place, keyword);
  for (const keyword of flags) readFlag(place, keyword);
  readList(place, "examples");
  for (const keyword of ["$defs", "definitions"]) readMap(place, keyword);
}
