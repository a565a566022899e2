import { type ClientRequest, request as httpRequest, type IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import type { ResourceRequest, ResourceResponse } from "../../environment.js";
import { LeaseError } from "../../errors.js";
import { passedHeaders } from "./response-headers.js";

const maxAnswerBytes = 8 * 1024 * 1024;
const maxHeaderBytes = 64 * 1024;
/** Answers before the answer (1xx); a server that sends only these would never come to an end. */
const maxInterim = 16;

/** One HTTP/1.1 exchange over a stream. Redirects are answers like any other. */
export function exchange(stream: Duplex, request: ResourceRequest, signal: AbortSignal): Promise<ResourceResponse> {
  return new Promise<ResourceResponse>((resolve, reject) => {
    const sent = send(stream, request);
    const fail = (error: unknown): void => {
      signal.removeEventListener("abort", onAbort);
      sent.destroy();
      stream.destroy();
      reject(error);
    };
    const onAbort = (): void => fail(signal.reason);
    signal.addEventListener("abort", onAbort);
    let interim = 0;
    sent.on("information", () => {
      interim += 1;
      if (interim > maxInterim) fail(failed("the guest sent interim answers only"));
    });
    sent.once("upgrade", () => fail(failed("the guest switched to another protocol")));
    sent.once("close", () => fail(failed("the guest closed the connection")));
    sent.on("error", (cause) => fail(failed("the guest did not answer in HTTP", cause)));
    sent.once("response", (answer) => {
      readAnswer(
        answer,
        (response) => {
          signal.removeEventListener("abort", onAbort);
          resolve(response);
        },
        fail,
      );
    });
    sent.end(request.body);
  });
}

function send(stream: Duplex, { port, method, path, body, contentType }: ResourceRequest): ClientRequest {
  const headers = {
    host: `127.0.0.1:${port}`,
    connection: "close",
    ...(contentType === undefined ? {} : { "content-type": contentType }),
    ...(body === undefined ? {} : { "content-length": body.length }),
  };
  return httpRequest({ createConnection: () => stream, method, path, headers, maxHeaderSize: maxHeaderBytes });
}

function readAnswer(
  answer: IncomingMessage,
  succeed: (response: ResourceResponse) => void,
  fail: (error: unknown) => void,
): void {
  const chunks: Buffer[] = [];
  let size = 0;
  answer.on("data", (chunk: Buffer) => {
    size += chunk.length;
    if (size > maxAnswerBytes) fail(failed(`the answer has more than ${maxAnswerBytes} bytes`));
    else chunks.push(chunk);
  });
  answer.once("error", (cause) => fail(failed("the answer was cut off", cause)));
  answer.once("end", () => {
    const status = answer.statusCode ?? 0;
    succeed({ status, headers: passedHeaders(answer.rawHeaders), body: Buffer.concat(chunks) });
  });
}

function failed(message: string, cause?: unknown): LeaseError {
  return new LeaseError("RELAY_FAILED", message, { cause });
}
