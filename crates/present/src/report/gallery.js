// The search of the gallery: every word of the query must occur in the words of a card.
(() => {
  'use strict';
  const cards = [...document.querySelectorAll('.cards > li')];
  const input = document.getElementById('search');
  const found = document.getElementById('found');
  const search = () => {
    const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
    let count = 0;
    for (const card of cards) {
      const shown = words.every((w) => card.dataset.words.includes(w));
      card.hidden = !shown;
      count += shown;
    }
    found.textContent = `${count} of ${cards.length}`;
  };
  input.addEventListener('input', search);
  search();
})();
