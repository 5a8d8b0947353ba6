// Puts a newer report in place of the old one, where the reader is: same place, same open parts, same filters.
(function () {
  "use strict";
  const ASK_MS = 2000;
  const DRAWN_MS = 8000;
  const note = document.getElementById("note");
  let version = "";

  function say(text) {
    note.textContent = text;
    note.hidden = text === "";
  }

  // Everything that a reader can change, each with a name that it has in a newer page too.
  function fields(page) {
    const seen = new Map();
    return Array.from(page.querySelectorAll("input, select, details"), function (element) {
      const summary = element.querySelector("summary");
      const name = element.tagName + " " + (element.id || element.name || (summary ? summary.textContent : ""));
      const count = (seen.get(name) || 0) + 1;
      seen.set(name, count);
      return [name + " " + count, element];
    });
  }

  function remember(frame) {
    const kept = new Map();
    for (const [name, element] of fields(frame.contentDocument)) {
      kept.set(name, [element.open, element.checked, element.value]);
    }
    return { kept: kept, x: frame.contentWindow.scrollX, y: frame.contentWindow.scrollY };
  }

  function restore(frame, memory) {
    for (const [name, element] of fields(frame.contentDocument)) {
      const [open, checked, value] = memory.kept.get(name) || [element.open, element.checked, element.value];
      if (element.tagName === "DETAILS") {
        element.open = open;
      } else if (element.checked !== checked || element.value !== value) {
        const gone = element.tagName === "SELECT" && !Array.from(element.options).some((one) => one.value === value);
        if (!gone) element.value = value;
        element.checked = checked;
        for (const kind of ["input", "change"]) {
          element.dispatchEvent(new frame.contentWindow.Event(kind, { bubbles: true }));
        }
      }
    }
    frame.contentWindow.scrollTo(memory.x, memory.y);
  }

  // Charts have their height once they are drawn; before that there is nowhere to scroll to.
  function whenDrawn(frame, done) {
    const page = frame.contentDocument;
    const until = Date.now() + DRAWN_MS;
    (function look() {
      const drawn = !page.querySelector("[data-root-id]") || page.documentElement.dataset.painted;
      if (drawn || Date.now() > until) done();
      else window.setTimeout(look, 50);
    })();
  }

  function show(newer) {
    const old = document.querySelector("iframe.shown");
    const frame = document.createElement("iframe");
    frame.title = "report";
    frame.addEventListener("load", function () {
      whenDrawn(frame, function () {
        if (old) restore(frame, remember(old));
        frame.classList.add("shown");
        if (old) old.remove();
        document.title = frame.contentDocument.title;
        document.documentElement.dataset.version = newer;
        window.setTimeout(ask, ASK_MS);
      });
    });
    frame.src = "/page?" + newer;
    document.body.append(frame);
  }

  async function ask() {
    try {
      const answer = await fetch("/version", { cache: "no-store" });
      const newest = await answer.json();
      say("");
      if (newest !== version) {
        version = newest;
        show(newest);
        return;
      }
    } catch (error) {
      say("The watch has ended; this is the report as it was last.");
    }
    window.setTimeout(ask, ASK_MS);
  }
  ask();
})();
