/** As the original's clients assert it: what is optional is a string or null, null by default. */
export const optionalId = {
  anyOf: [{ type: "string" }, { type: "null" }],
  default: null,
  title: "Session Id",
} as const;

/** One session. */
export const sessionOutput = {
  type: "object",
  title: "PythonSession",
  properties: {
    session_id: { type: "string", title: "Session Id" },
    status: { type: "string", title: "Status" },
    created_at: { type: "string", title: "Created At" },
  },
  required: ["session_id", "status", "created_at"],
} as const;
