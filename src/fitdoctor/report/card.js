for (const button of document.querySelectorAll(".fitdoctor-card button.fd-copy[hidden]")) {
  button.hidden = false;
  button.onclick = async () => {
    const text = button.dataset.text;
    try { await navigator.clipboard.writeText(text); } catch {
      const area = Object.assign(document.createElement("textarea"), { value: text });
      button.after(area);
      area.select();
      document.execCommand("copy");
      area.remove();
    }
    button.textContent = "Copied";
    setTimeout(() => { button.textContent = "Copy"; }, 1500);
  };
}
