# SPDX-License-Identifier: Apache-2.0
"""Drives a headless Chromium through a pair of pipes (its DevTools protocol): no other package is needed."""
import base64
import json
import os
import select
import shutil
import signal
import subprocess
import tempfile
import time


def find():
    """The browser's command, or None."""
    return next((path for name in ("chromium", "chromium-browser", "google-chrome") if (path := shutil.which(name))), None)


class Browser:
    """One page at a time. Every call ends within its limit or raises."""

    def __init__(self, limit=60):
        self.limit, self.next_id, self.events, self.buffer = limit, 0, [], b""
        self.folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        to_browser, self.out = os.pipe()
        self.into, from_browser = os.pipe()

        def place():  # the protocol is at 3 and 4; first out of their way
            a, b = os.dup(to_browser), os.dup(from_browser)
            a, b = os.dup2(a, 103), os.dup2(b, 104)
            os.dup2(103, 3)
            os.dup2(104, 4)

        self.process = subprocess.Popen(
            [find(), "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--remote-debugging-pipe", "--no-first-run",
             "--disable-extensions", "--disable-background-networking", "--disable-component-update", "--hide-scrollbars", "--force-color-profile=srgb",
             f"--user-data-dir={self.folder.name}", "about:blank"],
            close_fds=False, preexec_fn=place, start_new_session=True, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(to_browser)
        os.close(from_browser)
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.page(f"{domain}.enable")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        os.killpg(self.process.pid, signal.SIGKILL)  # its renderers too; the group is the browser's own
        self.process.wait()
        os.close(self.out)
        os.close(self.into)
        self.folder.cleanup()

    def _read(self, deadline):
        while b"\0" not in self.buffer:
            left = deadline - time.monotonic()
            if left <= 0 or not select.select([self.into], [], [], left)[0]:
                raise TimeoutError("the browser does not answer")
            piece = os.read(self.into, 1 << 20)
            if not piece:
                raise RuntimeError("the browser has ended")
            self.buffer += piece
        message, _, self.buffer = self.buffer.partition(b"\0")
        return json.loads(message)

    def call(self, method, session=None, **params):
        self.next_id += 1
        message = {"id": self.next_id, "method": method, "params": params}
        if session:
            message["sessionId"] = session
        data = json.dumps(message).encode() + b"\0"
        while data:
            data = data[os.write(self.out, data):]
        deadline = time.monotonic() + self.limit
        while True:
            answer = self._read(deadline)
            if answer.get("id") == self.next_id:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']['message']}")
                return answer["result"]
            if "method" in answer:
                self.events.append(answer)

    def page(self, method, **params):
        return self.call(method, self.session, **params)

    def open(self, path, width, height, dark=False, scale=1):
        self.events = []
        mobile = width < 600
        self.page("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=scale, mobile=mobile)
        self.page("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])
        self.page("Page.navigate", url=path if str(path).startswith("http:") else "file://" + os.path.abspath(path))
        self.wait("document.readyState === 'complete' && document.querySelector('main') !== null")

    def run(self, script):
        """The value of an expression, as JSON knows it."""
        result = self.page("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in result:
            raise RuntimeError(f"{script}: {result['exceptionDetails'].get('exception', {}).get('description', 'failed')}")
        return result["result"].get("value")

    def wait(self, condition, seconds=30):
        deadline = time.monotonic() + seconds
        while not self.run(f"Boolean({condition})"):
            if time.monotonic() > deadline:
                raise AssertionError(f"did not come true in {seconds} s: {condition}")
            time.sleep(0.05)

    def faults(self, origin=None):
        """What the page complained of, and what it asked the network for; a server of ours at `origin` is no network."""
        self.run("new Promise(done => requestAnimationFrame(() => setTimeout(done, 20)))")
        found = []
        for e in self.events:
            p = e.get("params", {})
            if e["method"] == "Runtime.exceptionThrown":
                found.append("exception: " + p["exceptionDetails"].get("exception", {}).get("description", p["exceptionDetails"].get("text", "")))
            if e["method"] == "Runtime.consoleAPICalled" and p["type"] in ("error", "warning", "assert"):
                found.append("console: " + str([a.get("value", a.get("description")) for a in p["args"]]))
            if e["method"] == "Log.entryAdded" and p["entry"]["level"] in ("error", "warning"):
                found.append("log: " + p["entry"]["text"])
            if e["method"] == "Network.requestWillBeSent":
                url = p["request"]["url"]
                if not url.startswith(("data:", "blob:", origin or "data:")) and not (url.startswith("file:") and p.get("type") == "Document"):
                    found.append("asked the network for " + url)
        return found

    def picture(self, path, whole=True):
        image = self.page("Page.captureScreenshot", format="png", captureBeyondViewport=whole)
        with open(path, "wb") as f:
            f.write(base64.b64decode(image["data"]))
