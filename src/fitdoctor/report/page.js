const folded = [];
addEventListener("beforeprint", () => {
  // Hundreds of layers stay folded: the table below them lists each.
  for (const each of document.querySelectorAll("details:not([open], .fd-block)")) { folded.push(each); each.open = true; }
});
addEventListener("afterprint", () => { for (const each of folded.splice(0)) each.open = false; });
