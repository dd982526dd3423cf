// Lunr reads `ValueError: …` as a search in a field called ValueError, and ranks titles above all. Who pastes a message wants
// the page that has its words: search for those, without the names and numbers of the reader's own program.
(() => {
  // The words that Lunr leaves out of its index (a search that requires one finds nothing), and those of every message.
  const COMMON = new Set((
    "able about across after all almost also among and any are because been but can cannot could did does either else ever every "
    + "for from get got had has have how however into its just least let like likely may might most must neither nor not off often "
    + "only other our own rather said say says should since some than that the their them then there these they this too was were "
    + "what when where which while who why will with would yet you your call called calling encountered exception received"
  ).split(" "));
  let before = 0;
  const telling = (text) => {
    const words = text.replace(/'[^']*'|"[^"]*"|`[^`]*`|\x1b\[\d*m/g, " ").match(/[A-Za-z]{3,}/g) || [];
    const known = words.filter((word) => !COMMON.has(word.toLowerCase()) && window.messageWords.has(word.toLowerCase()));
    return [...new Set(known)].slice(0, 7);
  };
  document.addEventListener("input", (event) => {
    const box = event.target;
    if (!(box instanceof HTMLInputElement) || box.dataset.mdComponent !== "search-query") return;
    const words = box.value.length - before > 25 ? telling(box.value) : [];
    if (words.length > 2) box.value = `"${words.join(" ")}"`;
    else if (/[:^~\\]/.test(box.value)) box.value = box.value.replace(/[:^~\\]+/g, " ");
    before = box.value.length;
    // Material searches when a key is released, which pasting with the mouse does not do.
    box.dispatchEvent(new KeyboardEvent("keyup"));
  }, true);
})();
