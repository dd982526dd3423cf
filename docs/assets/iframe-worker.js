// Browsers refuse to start a worker from a page that was opened from disk. There, the search runs in a hidden frame.
if (location.protocol === "file:") {
  class IFrameWorker extends EventTarget {
    constructor(url) {
      super();
      this.onmessage = null;
      this.frame = document.body.appendChild(document.createElement("iframe"));
      this.frame.hidden = true;
      this.ready = new Promise((resolve) => { this.started = resolve; });
      const inner = this.frame.contentWindow;
      inner.document.open();
      this.frame.addEventListener("load", () => this.started());
      inner.document.write(`<!doctype html><body><script>
        postMessage = (data) => parent.dispatchEvent(new MessageEvent("message", { data, source: window }));
        importScripts = (...urls) => urls.reduce((before, url) => before.then(() => new Promise((resolve, reject) => {
          const script = document.createElement("script");
          Object.assign(script, { src: url, onload: resolve, onerror: reject });
          document.body.append(script);
        })), Promise.resolve());
      <\/script><script src="${url}"><\/script>`);
      inner.document.close();
      addEventListener("message", (event) => {
        if (event.source !== this.frame.contentWindow) return;
        const copy = new MessageEvent("message", { data: event.data });
        this.dispatchEvent(copy);
        if (this.onmessage) this.onmessage(copy);
      });
    }
    postMessage(data) {
      this.ready.then(() => this.frame.contentWindow.dispatchEvent(new MessageEvent("message", { data })));
    }
    terminate() { this.frame.remove(); }
  }
  window.IFrameWorker = IFrameWorker;
  window.Worker = IFrameWorker;
}
