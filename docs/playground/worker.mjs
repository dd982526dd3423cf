// Runs fitdoctor beside the page, so that the page stays usable while it works.
import { loadPyodide } from "./pyodide/pyodide.mjs";
import { start } from "./engine.mjs";

const load = async (name, as) => {
  const response = await fetch(new URL(name, import.meta.url));
  if (!response.ok) throw new Error(`${name}: ${response.status}`);
  return response[as]();
};

const ready = (async () => start(
  loadPyodide,
  { indexURL: new URL("./pyodide/", import.meta.url).href },
  await load("packages.zip", "arrayBuffer"),
  await load("answer.py", "text"),
))();

self.onmessage = async ({ data: { id, text, kind } }) => {
  try {
    const answer = await ready;
    self.postMessage({ id, answer: answer(text, kind) });
  } catch (error) {
    self.postMessage({ id, error: String(error) });
  }
};
