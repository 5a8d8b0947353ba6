// Paints the charts in the reader's mode. They are drawn in the light colours; "tones" pairs each with its dark one.
(function () {
  "use strict";
  const tones = JSON.parse(document.getElementById("tones").textContent);
  const prefersDark = window.matchMedia("screen and (prefers-color-scheme: dark)");
  const printing = window.matchMedia("print");

  function repaint(model, other) {
    for (const property of model) {
      if (!property.attr.endsWith("_color")) continue;
      const value = model[property.attr];
      const color = typeof value === "string" ? value : value && value.value;
      const replacement = other.get(color);
      if (replacement) model[property.attr] = typeof value === "string" ? replacement : { value: replacement };
    }
  }

  function paint() {
    const dark = prefersDark.matches && !printing.matches;
    const other = new Map(tones.map(([light, night]) => (dark ? [light, night] : [night, light])));
    for (const doc of window.Bokeh.documents) {
      for (const model of doc.all_models) repaint(model, other);
    }
    document.documentElement.dataset.painted = dark ? "dark" : "light";
  }

  function whenDrawn() {
    if (window.Bokeh && window.Bokeh.documents.length > 0) {
      paint();
      prefersDark.addEventListener("change", paint);
      printing.addEventListener("change", paint);
    } else {
      window.requestAnimationFrame(whenDrawn);
    }
  }
  if (document.querySelector("[data-root-id]")) whenDrawn();
})();
