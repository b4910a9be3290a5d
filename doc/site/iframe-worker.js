/* Pages that are opened as files: browsers allow no worker there, so its script runs in a hidden frame of the page. The
 * theme's search needs no more of a worker than this. */
if (location.protocol === "file:") {
    window.IFrameWorker = window.Worker = class extends EventTarget {
        constructor(url) {
            super()
            const frame = document.createElement("iframe")
            frame.hidden = true
            document.body.append(frame)
            const inner = frame.contentWindow
            this.ready = new Promise(resolve => frame.addEventListener("load", () => resolve(inner)))
            inner.document.open()
            inner.postMessage = data => this.dispatchEvent(new MessageEvent("message", { data }))
            inner.importScripts = (...urls) => Promise.all(urls.map(u => new Promise((resolve, reject) => {
                const script = inner.document.createElement("script")
                script.src = u
                script.onload = resolve
                script.onerror = reject
                inner.document.body.append(script)
            })))
            inner.document.write(`<body><script src="${new URL(url, location)}"></script></body>`)
            inner.document.close()
        }

        postMessage(data) {
            this.ready.then(inner => inner.dispatchEvent(new MessageEvent("message", { data })))
        }
    }
}
