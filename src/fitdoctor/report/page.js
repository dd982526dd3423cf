const folded = [];
addEventListener("beforeprint", () => {
  for (const each of document.querySelectorAll("details:not([open])")) { folded.push(each); each.open = true; }
});
addEventListener("afterprint", () => { for (const each of folded.splice(0)) each.open = false; });
