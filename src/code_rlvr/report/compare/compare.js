// Shows and hides runs: each box of the legend names the run whose lines in all charts it switches.
(function () {
  "use strict";
  for (const box of document.querySelectorAll("input[data-run]")) {
    box.addEventListener("change", function () {
      for (const doc of window.Bokeh.documents) {
        for (const model of doc.all_models) {
          if (model.attributes.name === box.dataset.run) model.visible = box.checked;
        }
      }
    });
  }
})();
