import { defineConfig } from "tsup";

export default defineConfig({
  entry: ["src/index.ts"],
  format: ["esm"],
  dts: true,
  sourcemap: true,
  clean: true,
  // Half the bytes to compile at each start of a program; the source maps hold the sources. And it writes the byte constants into the loops
  // that use them. Bundled as they are, they become variables of the module, which V8 loads anew for each byte: the scan of dense JSON then
  // takes half as long again.
  minify: true,
  esbuildOptions(options) {
    options.lineLimit = 160; // Node shows the line of an uncaught error, and it should be one
  },
  target: "node20",
  removeNodeProtocol: false,
});
