// The floor: line split, parse, stringify, one write a message. Nothing is checked, nothing is bounded, every method is a call or `initialize`.
let rest = "";
process.stdin.setEncoding("utf8");
process.stdin.on("data", (chunk) => {
  const lines = (rest + chunk).split("\n");
  rest = lines.pop();
  for (const line of lines) {
    const { id, params } = JSON.parse(line);
    if (id === undefined) continue;
    const result = { content: [{ type: "text", text: params.arguments?.text ?? "" }] };
    process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", id, result })}\n`);
  }
});
