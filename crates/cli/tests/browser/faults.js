// Everything that can be wrong with any page, as a list of sentences. The first argument says whether the scheme is dark.
const faults = [];
const fault = (text) => { if (faults.length < 20) faults.push(text); };
const seen = (e) => { const b = e.getBoundingClientRect(); return b.width > 0 || b.height > 0; };

for (const m of document.querySelectorAll('math')) {
  if (m.getBoundingClientRect().height < 5) fault(`a formula has no height: ${m.textContent}`);
}
for (const svg of document.querySelectorAll('svg.figure')) {
  const paper = svg.getBoundingClientRect();
  const name = svg.getAttribute('aria-label');
  if (!name) fault('a figure has no alternative text');
  const texts = [...svg.querySelectorAll('text')].filter(seen).map((e) => [e.textContent, e.getBoundingClientRect()]);
  if (texts.length < 4) fault(`${name}: few texts`);
  texts.forEach(([a, r], i) => {
    if (r.left < paper.left - 0.5 || r.right > paper.right + 0.5 || r.top < paper.top - 0.5 || r.bottom > paper.bottom + 0.5) {
      fault(`${name}: "${a}" leaves the paper`);
    }
    for (const [b, s] of texts.slice(i + 1)) {
      // Boxes of lines of text are higher than their letters: one pixel of overlap is none.
      const x = Math.min(r.right, s.right) - Math.max(r.left, s.left);
      const y = Math.min(r.bottom, s.bottom) - Math.max(r.top, s.top);
      if (x > 1 && y > 1) fault(`${name}: "${a}" and "${b}" overlap`);
    }
  });
}
if (document.documentElement.scrollWidth > window.innerWidth + 1) {
  const wide = [...document.querySelectorAll('main *')].find((e) => e.getBoundingClientRect().right > window.innerWidth + 1);
  fault(`the page is wider than the window: ${wide ? wide.outerHTML.slice(0, 120) : ''}`);
}
let level = 0;
for (const h of document.querySelectorAll('h1, h2, h3, h4')) {
  const next = Number(h.tagName[1]);
  if (next > level + 1) fault(`the heading "${h.textContent}" skips a level`);
  level = next;
}
if (document.querySelectorAll('h1').length !== 1) fault('not one main heading');
for (const b of document.querySelectorAll('button, select, input')) {
  const label = b.getAttribute('aria-label') || b.textContent.trim() || (b.labels && b.labels.length ? b.labels[0].textContent.trim() : '');
  if (!label) fault(`a control without a name: ${b.outerHTML.slice(0, 100)}`);
}
for (const c of document.querySelectorAll('canvas')) if (!c.getAttribute('aria-label')) fault('a canvas has no alternative text');
const ground = getComputedStyle(document.body).backgroundColor.match(/\d+/g).map(Number);
if ((ground[0] + ground[1] + ground[2] < 380) !== arguments[0]) fault(`the ground is ${ground}`);
return faults;
