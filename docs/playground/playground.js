// The page "Find your error": asks the worker, shows its answer, and keeps the text in the address.
(() => {
  const $ = (name) => document.getElementById(`pg-${name}`);
  const base = new URL(".", document.currentScript.src);
  const causes = new URL("../causes/", base);
  const EXAMPLES = {
    "An error message": "ValueError: Input 0 of layer 'dense' is incompatible with the layer: expected axis -1 of input shape to have value 8, but received input with shape (None, 9)",
    "A label out of range": "InvalidArgumentError: Graph execution error:\n\nReceived a label value of 10 which is outside the valid range of [0, 10).  Label values: 3 10 7\n\t [[{{node SparseSoftmaxCrossEntropyWithLogits}}]]",
    "A program": "import keras\nimport numpy as np\n\nx = np.random.rand(1000, 28, 28)\ny = np.random.randint(1, 11, 1000)\n\nmodel = keras.Sequential([\n    keras.Input((28, 28)),\n    keras.layers.Flatten(),\n    keras.layers.Dense(10, activation=\"softmax\"),\n])\nmodel.compile(optimizer=\"adam\", loss=\"sparse_categorical_crossentropy\")\nmodel.fit(x, y, epochs=2)\n",
  };
  let worker = null;
  let asked = 0;

  // The cards follow `data-theme`; the palette of this site has its own attribute.
  const follow = () => {
    document.body.dataset.theme = document.body.dataset.mdColorScheme === "slate" ? "dark" : "light";
  };
  follow();
  new MutationObserver(follow).observe(document.body, { attributeFilter: ["data-md-color-scheme"] });

  const element = (name, properties, ...children) => {
    const made = Object.assign(document.createElement(name), properties);
    made.append(...children);
    return made;
  };

  function ask() {
    const text = $("text").value;
    if (!text.trim()) { $("status").textContent = "Paste something first."; return; }
    if (location.protocol === "file:") {
      $("status").textContent = "Browsers do not load WebAssembly from disk: use `make docs-serve`.";
      return;
    }
    if (!worker) {
      worker = new Worker(new URL("worker.mjs", base), { type: "module" });
      worker.onmessage = ({ data }) => { if (data.id === asked) show(data); };
      worker.onerror = () => {
        worker = null;
        finish("fitdoctor could not be loaded: is this site complete, and is the browser recent?");
      };
      $("status").textContent = "Loading fitdoctor …";
    } else {
      $("status").textContent = "Working …";
    }
    $("ask").disabled = true;
    $("answer").setAttribute("aria-busy", "true");
    history.replaceState(null, "", `#${encode(text, $("kind").value)}`);
    $("link").disabled = false;
    worker.postMessage({ id: ++asked, text, kind: $("kind").value });
  }

  function finish(status) {
    $("ask").disabled = false;
    $("answer").removeAttribute("aria-busy");
    $("status").textContent = status;
  }

  function show({ answer, error }) {
    $("answer").replaceChildren();
    if (error) { finish(`fitdoctor could not answer: ${error}`); return; }
    const names = { text: "a message or log", program: "a program", notebook: "a notebook", cause: "a cause" };
    finish(`Read as ${names[answer.kind]}.`);
    if (answer.cause) $("answer").append(element("p", {}, page(answer.cause)));
    for (const part of answer.parts) $("answer").append(...drawn(part));
  }

  const page = (id) => element("a", { href: new URL(`${id}.html`, causes).href }, `Everything about ${id}`);

  function* drawn(part) {
    yield element("p", { className: "command" }, "The same on your machine: ", element("code", {}, part.command));
    const { findings, unexplained } = part.diagnosis;
    if (part.html) {
      const box = element("div", {});
      box.innerHTML = part.html; // fitdoctor escapes everything it did not write itself
      for (const script of box.querySelectorAll("script")) {
        const copy = element("script", { textContent: script.textContent });
        setTimeout(() => script.replaceWith(copy));
      }
      yield box;
    } else if (!part.remarks) {
      const nothing = part.command.includes("explain")
        ? "No failure found: the text has no traceback and no message that fitdoctor knows."
        : "No problems found in the source. Some causes show only when the program runs: fitdoctor train.py";
      yield element("p", { className: "nothing" }, nothing);
    }
    if (part.remarks) yield element("pre", { className: "remarks" }, part.remarks);
    const ids = [...new Set(findings.map((finding) => finding.id))];
    if (ids.length) yield element("p", { className: "causes" }, ...ids.flatMap((id) => [page(id), " "]));
    if (unexplained.length && !ids.length) {
      yield element("p", {}, "fitdoctor does not know this one. The ",
        element("a", { href: new URL("../guides/reading_errors.html", base).href }, "guide to TensorFlow errors"), " may help.");
    }
    if (part.diff) yield* repairs(part);
  }

  function* repairs(part) {
    const copy = element("button", { type: "button", className: "md-button" }, "Copy the fixed text");
    copy.onclick = async () => {
      await navigator.clipboard.writeText(part.fixed);
      copy.textContent = "Copied";
      setTimeout(() => { copy.textContent = "Copy the fixed text"; }, 1500);
    };
    yield element("h3", {}, "Safe repairs");
    const classes = { "+": "add", "-": "del" };
    const lines = part.diff.trimEnd().split("\n").map((line) => element("span", {
      className: /^(\+\+\+|---)/.test(line) ? "" : classes[line[0]] || "",
    }, line));
    yield element("pre", { className: "diff" }, ...lines);
    yield copy;
  }

  const encode = (text, kind) => {
    const letters = Array.from(new TextEncoder().encode(text), (byte) => String.fromCharCode(byte));
    return `${kind || "any"}=${btoa(letters.join(""))}`;
  };

  function decode(fragment) {
    const found = /^#(any|text|program|notebook)=([A-Za-z0-9+/=]+)$/.exec(fragment);
    if (!found) return false;
    try {
      $("text").value = new TextDecoder().decode(Uint8Array.from(atob(found[2]), (letter) => letter.charCodeAt(0)));
    } catch { return false; }
    $("kind").value = found[1] === "any" ? "" : found[1];
    return true;
  }

  for (const name of Object.keys(EXAMPLES)) $("example").append(element("option", { value: name }, name));
  $("example").onchange = () => {
    if (!$("example").value) return;
    $("text").value = EXAMPLES[$("example").value];
    $("kind").value = "";
    $("example").value = "";
    ask();
  };
  $("ask").onclick = ask;
  $("text").addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) ask();
  });
  $("link").onclick = async () => {
    await navigator.clipboard.writeText(location.href);
    $("status").textContent = "Link copied. It contains the whole text.";
  };
  if (decode(location.hash)) ask();
})();
