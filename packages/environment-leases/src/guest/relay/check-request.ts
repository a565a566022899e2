import type { ResourceRequest } from "../../environment.js";
import { type FieldFault, LeaseError } from "../../errors.js";

const methods: readonly string[] = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"];
const maxPathBytes = 8192;
const maxBodyBytes = 1024 * 1024;
const maxMediaTypeBytes = 256;

const token = "[!#$%&'*+.^_`|~0-9A-Za-z-]+";
/** RFC 9110 § 8.3.1. */
const mediaType = new RegExp(
  `^${token}/${token}(?:[ \\t]*;[ \\t]*${token}=(?:${token}|"[\\x20\\x21\\x23-\\x5b\\x5d-\\x7e]*"))*$`,
);
/** One slash first, so that it is no authority; then nothing that ends a request line. */
const path = /^\/(?!\/)[\x21-\x7e]*$/;

/** @throws {LeaseError} `REQUEST_REFUSED`, naming every member at fault. */
export function checkRequest(request: ResourceRequest, exposedPorts: readonly number[]): void {
  const faults = [
    ...portFaults(request, exposedPorts),
    ...methodFaults(request),
    ...pathFaults(request),
    ...bodyFaults(request),
  ];
  if (faults.length > 0) throw new LeaseError("REQUEST_REFUSED", "the request cannot be relayed", { faults });
}

function portFaults({ port }: ResourceRequest, exposedPorts: readonly number[]): readonly FieldFault[] {
  return exposedPorts.includes(port) ? [] : [{ field: "port", fault: `must be one of ${exposedPorts.join(", ")}` }];
}

function methodFaults({ method }: ResourceRequest): readonly FieldFault[] {
  return methods.includes(method) ? [] : [{ field: "method", fault: `must be one of ${methods.join(", ")}` }];
}

function pathFaults(request: ResourceRequest): readonly FieldFault[] {
  if (typeof request.path !== "string" || !path.test(request.path)) {
    return [{ field: "path", fault: "must begin with one slash and hold visible ASCII only" }];
  }
  // A backslash is a slash to many servers and to every browser: /\host is an authority to them.
  if (request.path.startsWith("/\\")) return [{ field: "path", fault: "must not begin like an authority" }];
  return request.path.length <= maxPathBytes
    ? []
    : [{ field: "path", fault: `must have at most ${maxPathBytes} bytes` }];
}

function bodyFaults({ body, contentType }: ResourceRequest): readonly FieldFault[] {
  const faults: FieldFault[] = [];
  if (body !== undefined && body.length > maxBodyBytes) {
    faults.push({ field: "body", fault: `has ${body.length} bytes, at most ${maxBodyBytes} are taken` });
  }
  if (body !== undefined && contentType === undefined)
    faults.push({ field: "contentType", fault: "is needed with a body" });
  if (contentType !== undefined && (contentType.length > maxMediaTypeBytes || !mediaType.test(contentType))) {
    faults.push({ field: "contentType", fault: "must be a media type: type/subtype, with parameters" });
  }
  return faults;
}
