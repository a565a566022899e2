/** The parameters of a question that any client can be asked: a form without fields. */
export function emptyForm<Message extends string>(
  message: Message,
): { message: Message; requestedSchema: { type: "object"; properties: Record<string, never> } } {
  return { message, requestedSchema: { type: "object", properties: {} } };
}
