for (const place of document.querySelectorAll(".fitdoctor-card .fd-copy:empty")) {
  const button = place.appendChild(document.createElement("button"));
  button.type = "button";
  button.textContent = "Copy";
  button.onclick = async () => {
    const text = place.dataset.text;
    try { await navigator.clipboard.writeText(text); } catch {
      const area = Object.assign(document.createElement("textarea"), { value: text });
      place.append(area);
      area.select();
      document.execCommand("copy");
      area.remove();
    }
    button.textContent = "Copied";
    setTimeout(() => { button.textContent = "Copy"; }, 1500);
  };
}
