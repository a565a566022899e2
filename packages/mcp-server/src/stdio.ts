export type { StdioServerLimits } from "./stdio/limits.js";
export { type ServeStdioEnd, type ServeStdioOptions, serveStdio } from "./stdio/serve-stdio.js";
