// Texts of the page that are hard to read: less than 4.5 : 1 against what lies behind, 3 : 1 where letters are large.
// [WCAG 2.2, 1.4.3]
const canvas = document.createElement('canvas').getContext('2d', { willReadFrequently: true });
// The colour as the browser paints it, over what is there: [r, g, b].
const painted = (colour, under) => {
  canvas.globalCompositeOperation = 'source-over';
  canvas.fillStyle = `rgb(${under.join(',')})`;
  canvas.fillRect(0, 0, 1, 1);
  canvas.fillStyle = colour;
  canvas.fillRect(0, 0, 1, 1);
  return [...canvas.getImageData(0, 0, 1, 1).data].slice(0, 3);
};
const behind = (e) => {
  const layers = [];
  for (let at = e; at; at = at.parentElement) layers.push(getComputedStyle(at).backgroundColor);
  return layers.reverse().reduce((under, colour) => painted(colour, under), [255, 255, 255]);
};
const light = (rgb) => {
  const [r, g, b] = rgb.map((c) => (c /= 255) <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
};
const faults = [];
const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
while (walk.nextNode()) {
  const e = walk.currentNode.parentElement;
  if (!walk.currentNode.textContent.trim() || !e.checkVisibility({ visibilityProperty: true }) || ['SCRIPT', 'STYLE', 'OPTION'].includes(e.tagName)) continue;
  const style = getComputedStyle(e);
  const ground = behind(e);
  const [a, b] = [light(painted(style.color, ground)), light(ground)].sort((x, y) => y - x);
  const ratio = (a + 0.05) / (b + 0.05);
  const size = parseFloat(style.fontSize);
  const large = size >= 24 || (size >= 18.66 && Number(style.fontWeight) >= 700);
  if (ratio < (large ? 3 : 4.5)) faults.push(`${ratio.toFixed(2)}: ${e.tagName} ${e.className} "${walk.currentNode.textContent.trim().slice(0, 30)}"`);
}
return faults.slice(0, 10);
