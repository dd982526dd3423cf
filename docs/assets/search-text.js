// Lunr reads `ValueError: …` as a search in a field called ValueError, and ranks by words such as "a". What people paste is
// a message: search the words of it that tell messages apart.
(() => {
  const COMMON = new Set((
    "a an and are as at be been but by call called calling can cannot encountered error exception expected following for from "
    + "found given got has have if in into is it its line may most must no not of on or please received should such than that the "
    + "their then there this to use used using was when which while will with you your last recent file traceback"
  ).split(" "));
  document.addEventListener("input", (event) => {
    const box = event.target;
    if (!(box instanceof HTMLInputElement) || box.dataset.mdComponent !== "search-query") return;
    let text = box.value.replace(/\x1b\[\d*m|[:^~*\\[\](){}<>='"`|,;]+|(?<=\s|^)[+-]+/g, " ").replace(/ {2,}/g, " ");
    const words = text.trim().split(/\s+/);
    if (words.length > 5) {
      const telling = words.filter((word) => word.length > 2 && !/^[\d.]+$/.test(word) && !COMMON.has(word.toLowerCase()));
      text = [...new Set(telling)].slice(0, 12).join(" ");
    }
    if (text !== box.value) {
      const at = box.selectionStart;
      box.value = text;
      box.setSelectionRange(at, at);
    }
    // Material searches when a key is released, which pasting with the mouse does not do.
    box.dispatchEvent(new KeyboardEvent("keyup"));
  }, true);
})();
