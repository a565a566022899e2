export const note = "";
