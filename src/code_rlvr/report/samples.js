// Filters the samples of the page: by verdict, by step or part of the run, and by words in them.
(function () {
  "use strict";
  const form = document.getElementById("sample-filters");
  const status = document.getElementById("sample-count");
  const cards = Array.from(document.querySelectorAll("#samples > .program"));

  function fits(card, verdict, when, words) {
    if (verdict && card.dataset.verdict !== verdict) return false;
    if (when && card.dataset.step !== when && card.dataset.third !== when) return false;
    return words.every((word) => card.textContent.toLowerCase().includes(word));
  }

  function apply() {
    const words = form.elements.words.value.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    for (const card of cards) {
      card.hidden = !fits(card, form.elements.verdict.value, form.elements.when.value, words);
      if (!card.hidden) shown += 1;
    }
    status.textContent = shown === 0 ? "No sample fits." : `${shown} of ${cards.length} samples shown.`;
  }

  // A page that is opened at an address such as #verdict=accepted starts with that choice.
  function choose() {
    for (const [name, value] of new URLSearchParams(location.hash.slice(1))) {
      if (["verdict", "when", "words"].includes(name)) form.elements[name].value = value;
    }
    apply();
  }

  form.hidden = false;
  form.addEventListener("input", apply);
  form.addEventListener("submit", (event) => event.preventDefault());
  window.addEventListener("hashchange", choose);
  choose();
})();
