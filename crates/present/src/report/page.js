// Plots that can be read and enlarged. A figure is drawn already; its frame and scales are in its attributes, and its numbers are read back
// from the paths. Places are fractions of the frame: 0 at the left and at the bottom, 1 at the right and at the top.
(() => {
  'use strict';
  const NS = 'http://www.w3.org/2000/svg';
  const DEEPEST = 1 / 200;

  const make = (name, attributes, text) => {
    const e = document.createElementNS(NS, name);
    for (const key in attributes) e.setAttribute(key, attributes[key]);
    if (text !== undefined) e.textContent = text;
    return e;
  };
  const numbers = (text) => text.split(' ').map(Number);

  /** `M x y l dx dy …` as pieces of points. */
  const pieces = (d) =>
    d.split('M').filter(Boolean).map((part) => {
      const n = (part.match(/-?(?:\d+\.?\d*|\.\d+)/g) || []).map(Number);
      const points = [];
      for (let i = 0, x = 0, y = 0; i + 1 < n.length; i += 2) points.push([x += n[i], y += n[i + 1]]);
      return points;
    });

  const scale = (text) => {
    const [low, high, log] = numbers(text);
    const [a, b] = log ? [Math.log10(low), Math.log10(high)] : [low, high];
    return {
      log,
      value: (f) => { const v = a + (b - a) * f; return log ? 10 ** v : v; },
      place: (v) => ((log ? Math.log10(v) : v) - a) / (b - a),
    };
  };

  const plain = (text) => text.replace(/(\.\d*?)0+(e|$)/, '$1$2').replace(/\.(e|$)/, '$1').replace(/-/g, '−').replace('e+', 'e');
  const raised = (k) => String(k).replace(/./g, (c) => (c === '-' ? '⁻' : '⁰¹²³⁴⁵⁶⁷⁸⁹'[c]));
  /** A number with the digits that a step of this size leaves certain. */
  const written = (v, step) => {
    if (!Number.isFinite(v)) return '–';
    const size = Math.max(Math.abs(v), step);
    const digits = Math.min(15, Math.max(1, Math.floor(Math.log10(size)) - Math.floor(Math.log10(step)) + 1));
    if (size >= 1e6 || size < 1e-4) return plain(v.toExponential(digits - 1));
    return plain(v.toFixed(Math.min(15, Math.max(0, -Math.floor(Math.log10(step))))));
  };

  /** Round numbers of a part of a scale: places within the part, and labels. */
  const ticks = (s, from, to, count) => {
    const [low, high] = [s.value(from), s.value(to)];
    const marks = [];
    const mark = (v, label) => marks.push([(s.place(v) - from) / (to - from), label]);
    if (s.log && Math.log10(high / low) > 1.5) {
      const every = Math.ceil(Math.log10(high / low) / count);
      for (let k = Math.ceil(Math.log10(low)); k <= Math.log10(high); k += every) mark(10 ** k, `10${raised(k)}`);
      return marks;
    }
    const rough = (high - low) / count;
    const power = 10 ** Math.floor(Math.log10(rough));
    const step = [1, 2, 5, 10].find((n) => rough <= n * power * (1 + 1e-9)) * power;
    for (let k = Math.ceil(low / step); k <= high / step; k += 1) mark(k * step, written(k * step, step));
    return marks;
  };

  class Plot {
    constructor(svg) {
      this.svg = svg;
      this.holder = svg.closest('.plot');
      [this.left, this.top, this.width, this.height] = numbers(svg.dataset.frame);
      this.x = scale(svg.dataset.x);
      this.y = scale(svg.dataset.y);
      this.group = svg.querySelector('.curves');
      this.buttons = [...this.holder.querySelectorAll('.legend button')];
      this.paths = [...this.group.children];
      this.axes = ['x', 'y'].map((n) => svg.querySelector(`.ticks-${n}`));
      this.own = this.axes.map((g) => [...g.childNodes]);
      this.view = [0, 1, 0, 1];
      this.marks = make('g', {});
      svg.append(this.marks);
      this.tip = document.createElement('div');
      this.tip.className = 'tip';
      this.tip.hidden = true;
      svg.parentNode.append(this.tip);
      this.listen();
    }

    /** Points of the curves that are shown, as places; read when first needed. */
    curves() {
      this.read ??= this.paths.map((path) => {
        const i = Number(path.dataset.curve);
        const points = pieces(path.getAttribute('d')).flat().map(([x, y]) =>
          [(x - this.left) / this.width, 1 - (y - this.top) / this.height]);
        const rises = points.every((p, k) => k === 0 || p[0] >= points[k - 1][0]);
        return { i, path, points, rises, name: this.buttons[i] ? this.buttons[i].textContent : '' };
      }).sort((a, b) => a.i - b.i);
      return this.read.filter((c) => !c.path.hasAttribute('hidden'));
    }

    /** Where the pointer is, in places of the whole figure. */
    at(event) {
      const box = this.svg.getBoundingClientRect();
      const [, , w, h] = numbers(this.svg.getAttribute('viewBox'));
      const px = ((event.clientX - box.left) / box.width) * w;
      const py = ((event.clientY - box.top) / box.height) * h;
      const [x0, x1, y0, y1] = this.view;
      const f = [(px - this.left) / this.width, 1 - (py - this.top) / this.height];
      return { inside: f.every((v) => v >= 0 && v <= 1), f, place: [x0 + f[0] * (x1 - x0), y0 + f[1] * (y1 - y0)] };
    }

    pixel([x, y]) {
      const [x0, x1, y0, y1] = this.view;
      return [this.left + ((x - x0) / (x1 - x0)) * this.width, this.top + this.height - ((y - y0) / (y1 - y0)) * this.height];
    }

    show(view) {
      const [x0, x1, y0, y1] = view;
      if (x1 - x0 < DEEPEST || y1 - y0 < DEEPEST || x1 - x0 > 4 || y1 - y0 > 4) return;
      this.view = view;
      this.svg.dataset.view = view.join(' ');
      const whole = x0 === 0 && x1 === 1 && y0 === 0 && y1 === 1;
      const [a, b] = [1 / (x1 - x0), 1 / (y1 - y0)];
      const [l, t, w, h] = [this.left, this.top, this.width, this.height];
      const [e, f] = [l - a * l - a * x0 * w, (t + h) * (1 - b) + b * y0 * h];
      if (whole) this.group.removeAttribute('transform');
      else this.group.setAttribute('transform', `matrix(${a} 0 0 ${b} ${e} ${f})`);
      this.axes.forEach((g, k) => g.replaceChildren(...(whole ? this.own[k] : this.drawn(k))));
      this.leave();
    }

    /** Grid lines and labels of the part that is shown. */
    drawn(k) {
      const [x0, x1, y0, y1] = this.view;
      const [l, t, w, h] = [this.left, this.top, this.width, this.height];
      const out = [];
      const room = k === 0 ? w / 5 - 8 : l - 28;
      for (const [place, label] of k === 0 ? ticks(this.x, x0, x1, 4) : ticks(this.y, y0, y1, 5)) {
        const [x, y] = [l + place * w, t + h - place * h];
        out.push(make('path', { class: 'grid', d: k === 0 ? `M${x} ${t}V${t + h}` : `M${l} ${y}H${l + w}` }));
        const where = k === 0
          ? { x: Math.min(x, l + w - 6), y: t + h + 19, 'text-anchor': 'middle' }
          : { x: l - 5, y: y + 4, 'text-anchor': 'end' };
        const squeeze = label.length * 6.9 > room ? { textLength: room, lengthAdjust: 'spacingAndGlyphs' } : {};
        out.push(make('text', { class: 'muted', 'font-size': 12, ...where, ...squeeze }, label));
      }
      return out;
    }

    zoom(centre, factor) {
      const [x0, x1, y0, y1] = this.view;
      const part = (low, high, c) => [c - (c - low) * factor, c + (high - c) * factor];
      this.show([...part(x0, x1, centre[0]), ...part(y0, y1, centre[1])]);
    }

    reset() { this.show([0, 1, 0, 1]); }

    leave() {
      this.marks.replaceChildren();
      this.tip.hidden = true;
    }

    /** The value of a rising curve at a place. */
    static between(points, x) {
      let [a, b] = [0, points.length - 1];
      if (b < 0 || x < points[a][0] || x > points[b][0]) return undefined;
      while (b - a > 1) {
        const m = (a + b) >> 1;
        if (points[m][0] <= x) a = m; else b = m;
      }
      const [p, q] = [points[a], points[b]];
      const s = q[0] > p[0] ? (x - p[0]) / (q[0] - p[0]) : 0;
      return [x, p[1] + s * (q[1] - p[1])];
    }

    /** Shows the values at a place. */
    point(place) {
      const curves = this.curves().filter((c) => c.points.length);
      this.marks.replaceChildren();
      const [, , y0, y1] = this.view;
      const steps = (s, f, d) => Math.abs(s.value(f + d) - s.value(f)) || Number.MIN_VALUE;
      const fine = [0.01 / this.width, 0.01 / this.height];
      const say = (s, f, k) => written(s.value(f), steps(s, f, fine[k] * 2));
      const lines = [];
      let at = null;
      const dot = (c, p) => {
        const [cx, cy] = this.pixel(p);
        if (p[1] >= y0 && p[1] <= y1) this.marks.append(make('circle', { class: `dot ${c.path.classList[0]}`, cx, cy, r: 3.5 }));
      };
      if (curves.length && curves.every((c) => c.rises)) {
        const [px] = this.pixel([place[0], 0]);
        this.marks.append(make('path', { class: 'cross', d: `M${px} ${this.top}v${this.height}` }));
        lines.push(`${this.svg.dataset.xlabel} = ${say(this.x, place[0], 0)}`);
        for (const c of curves) {
          const p = Plot.between(c.points, place[0]);
          if (!p) continue;
          dot(c, p);
          lines.push(`${c.name} = ${say(this.y, p[1], 1)}`);
        }
        at = [place[0], place[1]];
      } else {
        let best = Infinity;
        let found = null;
        const here = this.pixel(place);
        for (const c of curves) {
          for (const p of c.points) {
            const [x, y] = this.pixel(p);
            const d = (x - here[0]) ** 2 + (y - here[1]) ** 2;
            if (d < best) [best, found, at] = [d, c, p];
          }
        }
        if (!found) return;
        dot(found, at);
        lines.push(found.name, `${this.svg.dataset.xlabel} = ${say(this.x, at[0], 0)}`, `${this.svg.dataset.ylabel} = ${say(this.y, at[1], 1)}`);
      }
      this.tip.textContent = lines.join('\n');
      this.tip.hidden = false;
      const box = this.svg.getBoundingClientRect();
      const [, , w, h] = numbers(this.svg.getAttribute('viewBox'));
      const [x, y] = this.pixel(at);
      const left = (x / w) * box.width;
      const right = left + 14 + this.tip.offsetWidth > box.width;
      this.tip.style.left = `${Math.max(0, right ? left - 14 - this.tip.offsetWidth : left + 14)}px`;
      this.tip.style.top = `${Math.max(0, Math.min((y / h) * box.height - 10, box.height - this.tip.offsetHeight))}px`;
    }

    listen() {
      const svg = this.svg;
      let drag = null;
      svg.addEventListener('pointermove', (e) => {
        const at = this.at(e);
        if (drag) {
          this.marks.replaceChildren();
          const f = at.f.map((v) => Math.min(1, Math.max(0, v)));
          const [x, w] = [Math.min(drag.f[0], f[0]), Math.abs(drag.f[0] - f[0])];
          const [y, h] = [Math.max(drag.f[1], f[1]), Math.abs(drag.f[1] - f[1])];
          this.marks.append(make('rect', {
            class: 'choice', x: this.left + x * this.width, y: this.top + (1 - y) * this.height, width: w * this.width, height: h * this.height,
          }));
          drag.end = f;
        } else if (at.inside) this.point(at.place);
        else this.leave();
      });
      svg.addEventListener('pointerdown', (e) => {
        const at = this.at(e);
        if (e.button !== 0 || e.pointerType === 'touch' || !at.inside) return;
        drag = { f: at.f, end: at.f };
        svg.setPointerCapture(e.pointerId);
        this.tip.hidden = true;
      });
      svg.addEventListener('pointerup', () => {
        if (!drag) return;
        const [x0, x1, y0, y1] = this.view;
        const part = (k, low, high) => [drag.f[k], drag.end[k]].sort((a, b) => a - b).map((f) => low + f * (high - low));
        const [nx, ny] = [part(0, x0, x1), part(1, y0, y1)];
        const wide = Math.abs(drag.f[0] - drag.end[0]) > 0.02 && Math.abs(drag.f[1] - drag.end[1]) > 0.02;
        drag = null;
        if (wide) this.show([...nx, ...ny]);
        else this.leave();
      });
      svg.addEventListener('pointercancel', () => { drag = null; this.leave(); });
      svg.addEventListener('pointerleave', () => { if (!drag) this.leave(); });
      svg.addEventListener('dblclick', () => this.reset());
      // NOTE: the wheel scrolls the page until a figure is chosen.
      svg.addEventListener('wheel', (e) => {
        const at = this.at(e);
        if (!at.inside || !(e.ctrlKey || document.activeElement === svg)) return;
        e.preventDefault();
        this.zoom(at.place, e.deltaY > 0 ? 1.25 : 0.8);
      }, { passive: false });
      svg.addEventListener('keydown', (e) => {
        const [x0, x1, y0, y1] = this.view;
        const centre = [(x0 + x1) / 2, (y0 + y1) / 2];
        const step = { ArrowLeft: -1, ArrowRight: 1 }[e.key];
        if (step) {
          const all = this.curves().filter((c) => c.points.length);
          if (all.length && all.every((c) => c.rises)) {
            this.cursor = Math.min(x1, Math.max(x0, (this.cursor ?? x0) + (step * (x1 - x0)) / 50));
            this.point([this.cursor, centre[1]]);
          } else if (all.length) {
            const points = all[0].points;
            this.cursor = Math.min(points.length - 1, Math.max(0, Math.round(this.cursor ?? 0) + step));
            this.point(points[this.cursor]);
          }
        } else if (e.key === '+' || e.key === '=') this.zoom(centre, 0.8);
        else if (e.key === '-') this.zoom(centre, 1.25);
        else if (e.key === '0' || e.key === 'Escape') this.reset();
        else return;
        e.preventDefault();
      });
      svg.addEventListener('blur', () => this.leave());
      for (const button of this.buttons) {
        button.addEventListener('click', () => {
          const shown = button.getAttribute('aria-pressed') !== 'true';
          button.setAttribute('aria-pressed', String(shown));
          const path = this.paths.find((p) => p.dataset.curve === button.dataset.curve);
          if (shown) path.removeAttribute('hidden');
          else path.setAttribute('hidden', '');
          path.style.display = shown ? '' : 'none';
          this.leave();
        });
      }
    }
  }

  const plots = [...document.querySelectorAll('svg.figure')].map((svg) => new Plot(svg));
  document.documentElement.dataset.ready = String(Math.round(performance.now()));
  window.pfaffPlots = plots;
})();
