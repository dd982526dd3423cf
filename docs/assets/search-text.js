// Lunr reads `ValueError: …` as a search in a field called ValueError. What people paste is text: search its words.
document.addEventListener("input", (event) => {
  const box = event.target;
  if (!(box instanceof HTMLInputElement) || box.dataset.mdComponent !== "search-query") return;
  const words = box.value.replace(/[:^~*\\[\](){}<>='"`|]+|(?<=\s|^)[+-]+|\x1b\[\d*m/g, " ");
  if (words !== box.value) {
    const at = box.selectionStart;
    box.value = words.replace(/ {2,}/g, " ");
    box.setSelectionRange(at, at);
  }
}, true);
