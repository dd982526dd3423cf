// Whoever pastes a message into the search wants its cause. Lunr ranks titles above all and reads `ValueError: …` as a search
// in a field called ValueError. So a pasted message is compared with all recorded messages, the causes of the most similar ones
// come first, and Lunr gets the words that they share: the rest is from the reader's own program.
(() => {
  const site = new URL("..", document.currentScript.src);
  const LONG = 20; // characters that nobody types between two events: the text was pasted
  const SIMILAR = 0.4;
  // Words that Lunr leaves out of its index: a search that requires one finds nothing.
  const COMMON = new Set((
    "able about across after all almost also among and any are because been but can cannot could did does either else ever every "
    + "for from get got had has have how however into its just least let like likely may might most must neither nor not off often "
    + "only other our own rather said say says should since some than that the their them then there these they this too was were "
    + "what when where which while who why will with would yet you your"
  ).split(" "));
  let before = 0;
  let recorded = null;

  const words = (text) => new Set((text.replace(/\x1b\[\d*m/g, "").match(/[A-Za-z_]{3,}(=\d)?/g) || []).map((word) => word.toLowerCase()));

  // Messages with the weight of each word: a word of few messages says more than one of many.
  function prepare({ titles, messages }) {
    const counts = new Map();
    const known = messages.map(([cause, times, text]) => ({ cause, times, words: new Set(text.split(" ")) }));
    for (const each of known) for (const word of each.words) counts.set(word, (counts.get(word) || 0) + 1);
    const weight = (word) => (counts.has(word) ? Math.log(1 + known.length / counts.get(word)) ** 2 : 0);
    const sum = (set) => [...set].reduce((total, word) => total + weight(word), 0);
    for (const each of known) each.size = sum(each.words);
    return { titles, known, weight, sum };
  }

  function similar(text) {
    const asked = [...words(text)].filter((word) => recorded.weight(word));
    const size = recorded.sum(asked);
    const best = new Map();
    for (const each of recorded.known) {
      const shared = asked.filter((word) => each.words.has(word));
      // Two messages of the same words: the cause that was met more often comes first.
      const score = recorded.sum(shared) / Math.sqrt(size * each.size) + each.times / 1e4;
      if (shared.length > 2 && score > (best.get(each.cause)?.score || SIMILAR)) best.set(each.cause, { ...each, score, shared });
    }
    const ranked = [...best.values()].sort((a, b) => b.score - a.score);
    return ranked.filter((each) => each.score > 0.7 * ranked[0].score).slice(0, 5);
  }

  function show(found) {
    const result = document.querySelector(".md-search-result");
    result.querySelector(".message-causes")?.remove();
    if (!found.length) return;
    const list = Object.assign(document.createElement("ol"), { className: "md-search-result__list message-causes" });
    for (const { cause } of found) {
      const item = list.appendChild(Object.assign(document.createElement("li"), { className: "md-search-result__item" }));
      const link = item.appendChild(Object.assign(document.createElement("a"), { className: "md-search-result__link" }));
      link.href = new URL(`causes/${cause}.html`, site).href;
      link.tabIndex = -1;
      const article = link.appendChild(Object.assign(document.createElement("article"), { className: "md-search-result__article md-typeset" }));
      article.append(
        Object.assign(document.createElement("h2"), { textContent: `${cause}: ${recorded.titles[cause]}` }),
        Object.assign(document.createElement("p"), { textContent: "This cause has printed such a message." }),
      );
    }
    result.lastElementChild.before(list);
  }

  function search(box) {
    const found = recorded && box.value.length > LONG ? similar(box.value) : [];
    if (found.length || box.value.length < before) show(found);
    if (found.length && box.value.length - before > LONG) {
      const heavy = [...found[0].shared].sort((a, b) => recorded.weight(b) - recorded.weight(a));
      const telling = heavy.map((word) => word.replace(/=\d$/, "")).filter((word) => !COMMON.has(word) && !word.endsWith("_"));
      box.value = `"${[...new Set(telling)].slice(0, 6).join(" ")}"`;
    } else if (/[:^~\\]/.test(box.value)) {
      box.value = box.value.replace(/[:^~\\]+/g, " ");
    }
    before = box.value.length;
    // Material searches when a key is released, which pasting with the mouse does not do.
    box.dispatchEvent(new KeyboardEvent("keyup"));
  }

  const box = (event) => (event.target.dataset?.mdComponent === "search-query" ? event.target : null);
  document.addEventListener("focusin", (event) => {
    if (recorded || !box(event)) return;
    const script = document.createElement("script"); // a page that was opened from disk cannot fetch
    script.src = new URL("assets/recorded-messages.js", site).href;
    script.onload = () => {
      recorded = prepare(window.recordedMessages);
      if (event.target.value) search(event.target);
    };
    document.head.append(script);
  });
  document.addEventListener("input", (event) => { if (box(event)) search(event.target); }, true);
  document.addEventListener("reset", () => { before = 0; show([]); }, true);
})();
