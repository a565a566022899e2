import { defineConfig } from "tsup";

export default defineConfig({
  entry: ["src/index.ts"],
  format: ["esm"],
  dts: true,
  sourcemap: true,
  clean: true,
  target: "node20",
  removeNodeProtocol: false,
  esbuildOptions(options) {
    // Writes the byte constants into the loops that use them. Bundled as they are, they become variables of the module,
    // which V8 loads anew for each byte: the scan of dense JSON then takes half as long again.
    options.minifySyntax = true;
  },
});
