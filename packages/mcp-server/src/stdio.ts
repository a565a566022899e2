export type { StdioServerLimits } from "./stdio/limits.js";
export type { ServeStdioOptions } from "./stdio/options.js";
export { type ServeStdioEnd, serveStdio } from "./stdio/serve-stdio.js";
