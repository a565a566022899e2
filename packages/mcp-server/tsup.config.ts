import { defineConfig } from "tsup";

export default defineConfig({
  entry: {
    index: "src/index.ts",
    protocol: "src/protocol.ts",
    stdio: "src/stdio.ts",
    http: "src/http.ts",
    tasks: "src/tasks.ts",
    contracts: "src/contracts.ts",
    auth: "src/auth.ts",
    opentelemetry: "src/opentelemetry.ts",
    "json-schema": "src/json-schema/index.ts",
  },
  format: ["esm"],
  dts: true,
  sourcemap: true,
  clean: true,
  // Half the bytes to compile at each start of a server; the source maps hold the sources.
  minify: true,
  esbuildOptions(options) {
    options.lineLimit = 160; // Node shows the line of an uncaught error, and it should be one
  },
  // Each entry is one file: a file more is a millisecond more of every start. Errors are recognised by name, so no entry needs another's classes.
  splitting: false,
  target: "node20",
});
