export { checkForm, type DocumentSchema, type SchemaIssue } from "./check-form.js";
export type { DocumentCheck, DocumentFault, DocumentProblem, DocumentReading } from "./document.js";
export { describeProblems } from "./problems.js";
export { readDocument } from "./read-document.js";
