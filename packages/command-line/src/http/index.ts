export { type FetchMetadata, isForeignPage } from "./foreign-page.js";
export { type HttpAddress, isLoopback, readHttpAddress } from "./http-address.js";
export { issueToken, type MakeToken, type TokenFlags } from "./issue-token.js";
export { type Listening, type ListenOptions, listen } from "./listen.js";
export { type NamesOptions, type NamesServed, namesServed } from "./names-served.js";
export { refuseOpenDoor } from "./open-door.js";
export {
  type Counter,
  createCounter,
  createHistogram,
  familyText,
  type Histogram,
  type Labels,
  type Sample,
} from "./prometheus.js";
export {
  type BodyBounds,
  type BodyReader,
  BodyRefusal,
  createBodyReader,
  type IncomingRequest,
  NotJson,
} from "./read-body.js";
