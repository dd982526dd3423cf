// Asks the playground, in Node: node playground.mjs PYODIDE PACKAGES PLAYGROUND QUESTIONS ANSWERS
import { readFileSync, writeFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const [pyodide, packages, playground, asked, answered] = process.argv.slice(2);
const { loadPyodide } = await import(pathToFileURL(`${pyodide}/pyodide.mjs`));
const { start } = await import(pathToFileURL(`${playground}/engine.mjs`));
const archive = readFileSync(packages);
const bytes = archive.buffer.slice(archive.byteOffset, archive.byteOffset + archive.byteLength);
const answer = await start(loadPyodide, { indexURL: pyodide }, bytes, readFileSync(`${playground}/answer.py`, "utf-8"));
const questions = JSON.parse(readFileSync(asked, "utf-8"));
writeFileSync(answered, JSON.stringify(questions.map((text) => answer(text, ""))));
