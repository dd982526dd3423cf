// Starts Python with fitdoctor in it. The worker of the page uses it, and so does the test, in Node.
export async function start(loadPyodide, options, packages, answerSource) {
  const python = await loadPyodide(options);
  python.unpackArchive(packages, "zip", { extractDir: "/packages" });
  const globals = python.globals;
  globals.set("source", answerSource);
  python.runPython(`
import sys
sys.path.insert(0, "/packages")
exec(source, globals())
`);
  const answer = globals.get("answer");
  return (text, kind) => JSON.parse(answer(text, kind));
}
