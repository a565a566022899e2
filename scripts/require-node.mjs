// Stops with one line when the tools would run on a Node that they do not support.
const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
const enough =
  major > 26 || major === 26 || (major === 24 && minor >= 11) || (major === 22 && minor >= 18) || major === 25;
if (!enough) {
  console.error(
    `berth: development needs Node 22.18, 24.11 or 26 and this is ${process.versions.node}; ` +
      "run `npm ci` without --ignore-scripts (it brings Node 24 on Linux), or put a newer node first on PATH",
  );
  process.exit(1);
}
