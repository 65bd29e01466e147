// A reporter of node:test that writes each failed test as a line of JSON: its file, its name and its error.

export default async function* failures(source) {
  for await (const { type, data } of source) {
    if (type !== "test:fail") continue;
    const { error } = data.details;
    if (error.failureType === "subtestsFailed") continue;
    const text = error.cause?.stack ?? error.cause ?? error.message;
    yield `${JSON.stringify({ file: data.file, test: data.name, error: String(text) })}\n`;
  }
}
