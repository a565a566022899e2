import { defineConfig } from "tsup";

export default defineConfig({
  entry: ["src/index.ts", "src/memory.ts", "src/sdk.ts", "src/streams.ts"],
  format: ["esm"],
  dts: true,
  sourcemap: true,
  clean: true,
  // Half the bytes to compile at each start of a server; the source maps hold the sources.
  minify: true,
  esbuildOptions(options) {
    options.lineLimit = 160; // Node shows the line of an uncaught error, and it should be one
  },
  target: "node20",
});
