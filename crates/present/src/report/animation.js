// The player of animations: draws the figures of every `.pfaff-animation` on its canvas.
//
// Data: columns of numbers, one number for each frame (a lone number never changes), written as
// [exponent, first, differences …]; figures name their columns. Between frames everything is
// interpolated. In space the camera is orthographic, and what is farther away is drawn first.
(function () {
  "use strict";

  const PALETTE = ["ground", "grid", "ink", "grey", "blue", "orange", "green", "red", "purple", "sky", "yellow"];
  const DEFAULTS = {
    point: "blue", line: "ink", polygon: "ink", spring: "grey", circle: "ink", disk: "sky", ellipsoid: "sky",
    box: "sky", wheel: "ink", trail: "orange", arrow: "red", text: "ink", surface: "grey",
  };
  const dot = (a, b) => a[0] * b[0] + a[1] * b[1] + (a[2] || 0) * (b[2] || 0);
  const add = (a, b, s) => a.map((x, k) => x + s * b[k]);
  const cross = (a, b) => [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
  const norm = (a) => Math.sqrt(dot(a, a));
  const unit = (a) => { const n = norm(a); return n > 0 ? a.map((x) => x / n) : a; };
  const finite = (a) => a.every(Number.isFinite);
  const clamp = (x, a, b) => Math.min(Math.max(x, a), b);

  function decode(column) {
    if (!Array.isArray(column)) return column === null ? NaN : column;
    const values = new Float64Array(column.length - 1);
    const power = Math.abs(column[0]);
    const scale = Math.pow(10, power);
    let sum = 0;
    for (let k = 1; k < column.length; k += 1) {
      if (column[k] === null) { values[k - 1] = NaN; continue; }
      sum += column[k];
      values[k - 1] = column[0] < 0 ? sum / scale : sum * scale;
    }
    return values;
  }

  // A direction across another one.
  function across(axis) {
    const a = axis.map(Math.abs);
    const other = a[0] <= a[1] && a[0] <= a[2] ? [1, 0, 0] : a[1] <= a[2] ? [0, 1, 0] : [0, 0, 1];
    return unit(cross(axis, other));
  }

  function niceStep(length) {
    const power = Math.pow(10, Math.floor(Math.log10(length)));
    const part = length / power;
    return power * (part < 1.5 ? 1 : part < 3.5 ? 2 : part < 7.5 ? 5 : 10);
  }

  function shortNumber(x) {
    if (!Number.isFinite(x)) return "–";
    return String(Number(x.toPrecision(4))).replaceAll("-", "−");
  }

  function Player(root) {
    let data = JSON.parse(root.querySelector("script[type='application/json']").textContent);
    const canvas = root.querySelector("canvas");
    const pen = canvas.getContext("2d");
    const button = root.querySelector(".pfaff-play");
    const slider = root.querySelector(".pfaff-time");
    const clock = root.querySelector(".pfaff-clock");
    const speed = root.querySelector(".pfaff-speed");
    const loop = root.querySelector(".pfaff-loop");
    const spatial = data.dimension === 3;
    let columns, trails, duration, seconds, lift;
    const state = { part: 0, playing: false, last: 0 };
    const colours = {};
    let width = 600, height = 400, frame = 0, scale = 1, zoom = 1, middle = [0, 0, 0], readAt = -1;
    let camera = null;
    function load(next) {
      data = next;
      columns = data.columns.map(decode);
      trails = data.trails.map(decode);
      duration = Math.abs(data.end - data.start);
      // What lasts very short or very long is shown in five to twenty seconds.
      seconds = duration > 0 ? clamp(duration, 5, 20) : 1;
      // What lies on something is drawn after it.
      lift = 0.01 * norm(add(data.bounds[1], data.bounds[0], -1));
    }
    load(data);

    const value = (k) => {
      const column = columns[k];
      if (typeof column === "number") return column;
      const at = state.part * (column.length - 1);
      const i = Math.min(Math.floor(at), column.length - 2);
      return column[i] + (at - i) * (column[i + 1] - column[i]);
    };
    const place = (list) => list.map(value);

    // ---- camera ----
    function startCamera() {
      const view = data.view || {};
      const up = unit(view.up ? place(view.up) : [0, 0, 1]);
      const right = across(up);
      const front = cross(up, right);
      const from = unit(view.from ? place(view.from) : add(add(right.map((x) => x * -0.55), front, 0.75), up, 0.45));
      const flat = [dot(from, right), dot(from, front)];
      camera = { up, first: right, second: front, turn: Math.atan2(flat[1], flat[0]), lift: Math.asin(clamp(dot(from, up), -1, 1)) };
      if (!view.from) { camera.turn = azimuth([0.75, -1, 0], camera); }
    }
    function azimuth(direction, c) {
      const a = Math.atan2(dot(direction, c.second), dot(direction, c.first));
      return Number.isFinite(a) ? a : 0;
    }
    function look() {
      const { up, first, second, turn, lift } = camera;
      const c = Math.cos(lift), s = Math.sin(lift);
      const flat = add(first.map((x) => x * Math.cos(turn)), second, Math.sin(turn));
      const eye = add(flat.map((x) => x * c), up, s);
      const right = add(first.map((x) => -x * Math.sin(turn)), second, Math.cos(turn));
      camera.eye = eye; camera.right = right; camera.above = cross(eye, right);
    }
    const flatten = (p) => (spatial ? [dot(p, camera.right), dot(p, camera.above)] : p);
    const depth = (p) => (spatial ? dot(p, camera.eye) : 0);
    function project(p) {
      const q = flatten(p);
      return [width / 2 + scale * (q[0] - middle[0]), height / 2 - scale * (q[1] - middle[1])];
    }

    function corners() {
      const [low, high] = data.bounds;
      if (!spatial) return [low, high];
      const list = [];
      for (let k = 0; k < 8; k += 1) list.push([0, 1, 2].map((i) => ((k >> i) & 1 ? high[i] : low[i])));
      return list;
    }
    function extent() {
      const flat = corners().map(flatten);
      const xs = flat.map((p) => p[0]), ys = flat.map((p) => p[1]);
      return [Math.min(...xs), Math.max(...xs), Math.min(...ys), Math.max(...ys)];
    }

    // ---- size ----
    function resize() {
      const ratio = window.devicePixelRatio || 1;
      width = Math.max(canvas.clientWidth, 120);
      if (spatial && !camera.eye) look();
      const [a, b, c, d] = extent();
      let shape = (d - c) / Math.max(b - a, 1e-12);
      if (data.view && data.view.size !== null) shape = 0.6;
      height = Math.round(clamp(width * clamp(shape * 0.92 + 0.06, 0.34, 0.75), 180, 520));
      canvas.style.height = height + "px";
      canvas.width = Math.round(width * ratio);
      canvas.height = Math.round(height * ratio);
      pen.setTransform(ratio, 0, 0, ratio, 0, 0);
      paint();
    }
    function frameScene() {
      if (spatial) look();
      const view = data.view || {};
      const [a, b, c, d] = extent();
      const margin = 26;
      const shown = typeof view.size === "number" ? value(view.size) : 0;
      if (shown > 0) scale = Math.min(width, height * 1.6) / shown;
      else scale = Math.min((width - 2 * margin) / Math.max(b - a, 1e-9), (height - 2 * margin) / Math.max(d - c, 1e-9));
      if (!Number.isFinite(scale) || (b - a < 1e-9 && d - c < 1e-9 && !shown)) scale = 100;
      scale *= zoom;
      middle = view.at ? flatten(place(view.at)) : [(a + b) / 2, (c + d) / 2];
      if (!finite(middle)) middle = [(a + b) / 2, (c + d) / 2];
    }

    // ---- looks ----
    function readColours(now) {
      if (readAt >= 0 && now - readAt < 300) return;
      readAt = now;
      const style = getComputedStyle(root);
      for (const name of PALETTE) colours[name] = style.getPropertyValue("--pfaff-" + name).trim() || "#888";
      colours.font = style.fontFamily || "sans-serif";
    }
    function ready(shape) {
      const colour = colours[shape.colour || DEFAULTS[shape.kind]] || colours.ink;
      pen.globalAlpha = shape.faint ? 0.35 : 1;
      pen.strokeStyle = colour;
      pen.fillStyle = colour;
      pen.lineWidth = shape.width || (shape.kind === "trail" ? 1.5 : shape.kind === "surface" ? 0.7 : 2);
      pen.lineJoin = "round";
      pen.lineCap = "round";
      pen.setLineDash(shape.dashed ? [6, 5] : []);
      return colour;
    }
    function path(points, closed) {
      pen.beginPath();
      let fresh = true;
      for (const p of points) {
        if (!finite(p)) { fresh = true; continue; }
        if (fresh) pen.moveTo(p[0], p[1]); else pen.lineTo(p[0], p[1]);
        fresh = false;
      }
      if (closed) pen.closePath();
    }
    // Covers what is behind, then tints.
    function tint(colour, part) {
      const alpha = pen.globalAlpha;
      pen.fillStyle = colours.ground;
      pen.globalAlpha = alpha * 0.9;
      pen.fill();
      pen.fillStyle = colour;
      pen.globalAlpha = alpha * part;
      pen.fill();
      pen.globalAlpha = alpha;
    }
    // Beside a point; beyond the head of an arrow, which points `towards`.
    function write(text, p, shape, towards) {
      if (!finite(p)) return;
      pen.globalAlpha = 1;
      pen.font = "13px " + colours.font;
      pen.textBaseline = "middle";
      const wide = pen.measureText(text).width;
      const [left, below] = towards ? [towards[0] < 0, towards[1] > 0] : [false, false];
      const off = shape.kind === "text" ? [0, 0] : [left ? -7 - wide : 8, below ? 11 : -11];
      const x = clamp(p[0] + off[0], 4, Math.max(4, width - wide - 4));
      const y = clamp(p[1] + off[1], 9, height - 9);
      pen.lineWidth = 4;
      pen.setLineDash([]);
      pen.strokeStyle = colours.ground;
      pen.strokeText(text, x, y);
      pen.fillStyle = colours[shape.colour] && shape.kind === "text" ? colours[shape.colour] : colours.ink;
      pen.fillText(text, x, y);
    }

    // ---- figures: each gives pieces { z, draw } ----
    const figures = {
      point(shape, out) {
        const p = place(shape.at);
        if (!finite(p)) return;
        const r = shape.radius === undefined ? 5 : Math.max(Math.abs(value(shape.radius)) * scale, 2);
        out.push({ z: depth(p) + lift, draw() {
          const colour = ready(shape), q = project(p);
          pen.beginPath();
          pen.arc(q[0], q[1], r, 0, 2 * Math.PI);
          if (spatial && r > 6) return ball(q, r, colour);
          pen.fill();
        } });
        label(shape, p, out);
      },
      line(shape, out) {
        const points = shape.points.map(place);
        const closed = shape.kind === "polygon";
        if (spatial && !closed && points.length > 2) {
          for (let k = 1; k < points.length; k += 1) piece(shape, points.slice(k - 1, k + 1), false, out);
        } else piece(shape, points, closed, out);
        label(shape, points[points.length - 1], out);
      },
      spring(shape, out) {
        const [a, b] = shape.points.map(place);
        if (!finite(a) || !finite(b)) return;
        out.push({ z: (depth(a) + depth(b)) / 2, draw() {
          ready(shape);
          const p = project(a), q = project(b);
          const along = [q[0] - p[0], q[1] - p[1]], length = Math.hypot(along[0], along[1]) || 1;
          const side = [(-along[1] / length), along[0] / length].map((x) => x * value(shape.thickness) * scale);
          const points = [p], n = 2 * shape.turns;
          for (let k = 0; k <= n; k += 1) {
            const s = 0.12 + (0.76 * k) / n, w = k === 0 || k === n ? 0 : k % 2 ? 0.5 : -0.5;
            points.push([p[0] + s * along[0] + w * side[0], p[1] + s * along[1] + w * side[1]]);
          }
          points.push(q);
          path(points, false);
          pen.stroke();
        } });
        label(shape, b, out);
      },
      circle(shape, out) {
        const c = place(shape.at), r = value(shape.radius);
        if (!finite(c) || !Number.isFinite(r)) return;
        let e = [r, 0], f = [0, r], lit = 1;
        const spoke = shape.spoke ? place(shape.spoke) : null;
        if (spatial) {
          const axis = unit(shape.axis ? place(shape.axis) : [0, 0, 1]);
          const first = spoke ? unit(add(spoke, axis, -dot(spoke, axis))) : across(axis);
          e = first.map((x) => x * r);
          f = cross(axis, first).map((x) => x * r);
          lit = Math.abs(dot(axis, camera.eye));
        }
        const ring = [];
        for (let k = 0; k < 64; k += 1) {
          const a = (k * Math.PI) / 32;
          ring.push(project(add(add(c, e, Math.cos(a)), f, Math.sin(a))));
        }
        out.push({ z: depth(c), draw() {
          const colour = ready(shape);
          path(ring, true);
          if (shape.fill || shape.kind === "disk") tint(colour, 0.3 + 0.35 * lit);
          pen.stroke();
          if (!spoke || !finite(spoke)) return;
          const arm = spatial ? e : unit(spoke).map((x) => x * r);
          path([project(add(c, arm, -1)), project(add(c, arm, 1))], false);
          pen.lineWidth = 1.2;
          pen.stroke();
          const tip = project(add(c, arm, 0.82));
          pen.fillStyle = colours.ink;
          pen.beginPath();
          pen.arc(tip[0], tip[1], 3, 0, 2 * Math.PI);
          pen.fill();
        } });
        label(shape, c, out);
      },
      ellipsoid(shape, out) {
        const c = place(shape.at), axes = shape.axes.map(place);
        if (!finite(c) || !axes.every(finite)) return;
        if (!spatial || axes.length === 2) return ellipse(shape, c, axes, out);
        out.push({ z: depth(c), draw() { ellipsoid(shape, c, axes); } });
        label(shape, c, out);
      },
      box(shape, out) {
        const c = place(shape.at), axes = shape.axes.map(place);
        if (!finite(c) || !axes.every(finite)) return;
        if (axes.length === 2) {
          const [a, b] = axes;
          const points = [[1, 1], [-1, 1], [-1, -1], [1, -1]].map((s) => add(add(c, a, s[0]), b, s[1]));
          piece(Object.assign({ fill: true }, shape), points, true, out);
          if (shape.kind === "box") label(shape, c, out);
          return;
        }
        out.push({ z: depth(c), draw() { box(shape, c, axes); } });
        label(shape, c, out);
      },
      trail(shape, out) {
        const list = shape.at.map((k) => (k === null ? 0 : trails[k]));
        const count = list.reduce((n, x) => (typeof x === "number" ? n : Math.max(n, x.length)), 0);
        if (count < 2) return;
        const last = state.part * (count - 1), points = [];
        const at = (x, k) => {
          if (typeof x === "number") return x;
          const i = Math.min(Math.floor(k), x.length - 2);
          return x[i] + (k - i) * (x[i + 1] - x[i]);
        };
        for (let k = 0; k <= last; k += 1) points.push(list.map((x) => at(x, k)));
        points.push(list.map((x) => at(x, last)));
        const step = spatial ? (shape.dashed ? 240 : 12) : points.length;
        for (let k = 0; k + 1 < points.length; k += step) piece(shape, points.slice(k, k + step + 1), false, out);
      },
      arrow(shape, out) {
        const a = place(shape.at), d = place(shape.along);
        if (!finite(a) || !finite(d)) return;
        const b = add(a, d, 1);
        out.push({ z: Math.max(depth(a), depth(b)) + lift, draw() {
          ready(shape);
          const p = project(a), q = project(b);
          const along = [q[0] - p[0], q[1] - p[1]], length = Math.hypot(along[0], along[1]);
          if (length < 1) return;
          const head = Math.min(11, 0.6 * length), u = along.map((x) => x / length);
          const neck = [q[0] - head * u[0], q[1] - head * u[1]];
          path([p, neck], false);
          pen.stroke();
          path([q, [neck[0] - 0.42 * head * u[1], neck[1] + 0.42 * head * u[0]],
            [neck[0] + 0.42 * head * u[1], neck[1] - 0.42 * head * u[0]]], true);
          pen.fill();
        } });
        const [p, q] = [project(a), project(b)], towards = [q[0] - p[0], q[1] - p[1]];
        if (Math.hypot(towards[0], towards[1]) > 8) label(shape, b, out, towards);
      },
      text(shape, out) {
        const p = place(shape.at);
        const number = shape.value === undefined ? "" : " " + shortNumber(value(shape.value));
        out.push({ z: Infinity, draw() { write(shape.text + number, project(p), shape); } });
      },
      surface(shape, out) {
        const points = shape.points.map(place), n = shape.columns;
        for (let i = 0; i + n < points.length; i += n) {
          for (let j = i; j + 1 < i + n; j += 1) {
            const quad = [points[j], points[j + 1], points[j + n + 1], points[j + n]];
            if (!quad.every(finite)) continue;
            const z = quad.reduce((s, p) => s + depth(p), 0) / 4;
            const normal = unit(cross(add(quad[2], quad[0], -1), add(quad[3], quad[1], -1)));
            out.push({ z: z - lift, draw() {
              const colour = ready(shape);
              path(quad.map(project), true);
              pen.globalAlpha *= shape.fill ? 0.75 : 0.1 + 0.16 * Math.abs(dot(normal, camera.eye));
              pen.fillStyle = colour;
              pen.fill();
              pen.globalAlpha = shape.faint ? 0.25 : 0.55;
              pen.stroke();
            } });
          }
        }
      },
    };
    figures.polygon = figures.line;
    figures.disk = figures.circle;
    figures.wheel = figures.box;

    function label(shape, p, out, towards) {
      if (!shape.label || !finite(p)) return;
      out.push({ z: Infinity, draw() { write(shape.label, project(p), shape, towards); } });
    }
    function piece(shape, points, closed, out) {
      const good = points.filter(finite);
      if (good.length === 0) return;
      const z = good.reduce((s, p) => s + depth(p), 0) / good.length;
      out.push({ z, draw() {
        const colour = ready(shape);
        path(points.map(project), closed);
        if (closed && shape.fill) {
          if (shape.kind === "wheel") pen.fill(); else tint(colour, 0.35);
        }
        pen.stroke();
      } });
    }
    function ball(q, r, colour) {
      const alpha = pen.globalAlpha;
      const shade = pen.createRadialGradient(q[0] - r / 3, q[1] - r / 3, r / 8, q[0], q[1], r);
      shade.addColorStop(0, "#ffffff");
      shade.addColorStop(1, colour);
      pen.fillStyle = colours.ground;
      pen.fill();
      pen.globalAlpha = alpha * 0.75;
      pen.fillStyle = shade;
      pen.fill();
      pen.globalAlpha = alpha;
    }
    function ellipse(shape, c, axes, out) {
      const [a, b] = axes, ring = [];
      for (let k = 0; k < 64; k += 1) {
        const s = (k * Math.PI) / 32;
        ring.push(add(add(c, a, Math.cos(s)), b, Math.sin(s)));
      }
      piece(Object.assign({ fill: true }, shape), ring, true, out);
      const arm = (v) => piece({ kind: "line", colour: shape.colour || "blue", width: 1.2 }, [add(c, v, -1), add(c, v, 1)], false, out);
      arm(a);
      arm(b);
      label(shape, c, out);
    }
    function ellipsoid(shape, c, axes) {
      const colour = ready(shape);
      const flat = axes.map((a) => flatten(a).map((x) => x * scale));
      const at = project(c);
      // The outline is the image of a circle under a triangular root of P Pᵀ.
      const pp = [0, 0, 0];
      for (const p of flat) { pp[0] += p[0] * p[0]; pp[1] += p[0] * p[1]; pp[2] += p[1] * p[1]; }
      const l = Math.sqrt(Math.max(pp[0], 1e-12)), m = pp[1] / l, n = Math.sqrt(Math.max(pp[2] - m * m, 0));
      const ring = [];
      for (let k = 0; k < 72; k += 1) {
        const s = (k * Math.PI) / 36;
        ring.push([at[0] + l * Math.cos(s), at[1] - m * Math.cos(s) - n * Math.sin(s)]);
      }
      path(ring, true);
      ball(at, Math.max(Math.sqrt(Math.max(pp[0], pp[2])), 1), colour);
      pen.lineWidth = 1.2;
      pen.stroke();
      // The near halves of three circles of the body: u·w > 0 with A w = eye.
      const [a, b, d] = axes, det = dot(a, cross(b, d));
      if (Math.abs(det) < 1e-300) return;
      const w = [cross(b, d), cross(d, a), cross(a, b)].map((r) => dot(r, camera.eye) / det);
      const inside = [dot(a, camera.eye), dot(b, camera.eye), dot(d, camera.eye)];
      const near = (u) => dot(u, w) * Math.sign(dot(w, inside) || 1) > 0;
      for (let k = 0; k < 3; k += 1) {
        const points = [];
        for (let i = 0; i <= 72; i += 1) {
          const s = (i * Math.PI) / 36, u = [0, 0, 0];
          u[k] = Math.cos(s);
          u[(k + 1) % 3] = Math.sin(s);
          points.push(near(u) ? project([0, 1, 2].reduce((p, j) => add(p, axes[j], u[j]), c)) : [NaN, NaN]);
        }
        pen.strokeStyle = k === 0 ? colours.ink : colour;
        pen.lineWidth = k === 0 ? 1.6 : 1;
        path(points, false);
        pen.stroke();
      }
    }
    function box(shape, c, axes) {
      const colour = ready(shape);
      const hand = Math.sign(dot(axes[0], cross(axes[1], axes[2]))) || 1;
      for (let k = 0; k < 3; k += 1) {
        const a = axes[k], b = axes[(k + 1) % 3], d = axes[(k + 2) % 3];
        const normal = unit(cross(b, d).map((x) => x * hand));
        const side = dot(normal, camera.eye) >= 0 ? 1 : -1;
        const m = add(c, a, side);
        path([[1, 1], [-1, 1], [-1, -1], [1, -1]].map((s) => project(add(add(m, b, s[0]), d, s[1]))), true);
        tint(colour, 0.22 + 0.5 * Math.abs(dot(normal, camera.eye)));
        pen.stroke();
      }
    }

    // ---- the ground ----
    function grid() {
      const step = niceStep(70 / scale);
      const low = [middle[0] - width / 2 / scale, middle[1] - height / 2 / scale];
      const high = [middle[0] + width / 2 / scale, middle[1] + height / 2 / scale];
      pen.globalAlpha = 1;
      pen.setLineDash([]);
      pen.lineWidth = 1;
      pen.strokeStyle = colours.grid;
      pen.fillStyle = colours.grey;
      pen.font = "11px " + colours.font;
      for (let axis = 0; axis < 2; axis += 1) {
        const first = Math.ceil(low[axis] / step), last = Math.floor(high[axis] / step);
        if (last - first > 200) continue;
        for (let k = first; k <= last; k += 1) {
          const p = project(axis === 0 ? [k * step, 0] : [0, k * step]);
          path(axis === 0 ? [[p[0], 0], [p[0], height]] : [[0, p[1]], [width, p[1]]], false);
          pen.stroke();
          const text = shortNumber(k * step);
          pen.textBaseline = "alphabetic";
          const wide = pen.measureText(text).width;
          if (axis === 0 && p[0] > 34 && p[0] + wide + 6 < width) pen.fillText(text, p[0] + 3, height - 5);
          if (axis === 1 && p[1] > 16 && p[1] < height - 22) pen.fillText(text, 4, p[1] - 4);
        }
      }
    }
    function triad() {
      const at = [30, height - 30];
      pen.globalAlpha = 1;
      pen.setLineDash([]);
      pen.lineWidth = 1.4;
      pen.font = "11px " + colours.font;
      pen.textBaseline = "middle";
      ["x", "y", "z"].forEach((name, k) => {
        const p = flatten([0, 1, 2].map((i) => (i === k ? 20 : 0)));
        pen.strokeStyle = colours.grey;
        pen.fillStyle = colours.grey;
        path([at, [at[0] + p[0], at[1] - p[1]]], false);
        pen.stroke();
        pen.fillText(name, at[0] + 1.3 * p[0] - 3, at[1] - 1.3 * p[1]);
      });
    }

    function paint() {
      if (!data.frames) return;
      readColours(performance.now());
      frameScene();
      pen.clearRect(0, 0, width, height);
      if (!spatial) grid();
      const out = [];
      for (const shape of data.shapes) figures[shape.kind](shape, out);
      if (spatial) out.forEach((p, k) => { p.k = k; }), out.sort((a, b) => a.z - b.z || a.k - b.k);
      for (const item of out) item.draw();
      pen.globalAlpha = 1;
      if (spatial) triad();
    }
    const now = () => data.start + state.part * (data.end - data.start);
    function show() {
      const digits = duration > 0 ? clamp(2 - Math.floor(Math.log10(duration)), 0, 12) : 2;
      clock.textContent = "t = " + now().toFixed(Math.min(digits, 8));
      slider.value = String(Math.round(1000 * state.part));
      slider.setAttribute("aria-valuetext", clock.textContent);
      paint();
    }
    function tick(stamp) {
      frame = 0;
      if (!state.playing) return;
      const passed = state.last ? Math.min((stamp - state.last) / 1000, 0.1) : 0;
      state.last = stamp;
      state.part += (passed * Number(speed.value)) / seconds;
      if (state.part >= 1) {
        if (loop.checked) state.part %= 1; else { state.part = 1; pause(); }
      }
      show();
      if (state.playing) frame = requestAnimationFrame(tick);
    }
    function play() {
      if (state.playing || duration === 0) return;
      if (state.part >= 1) state.part = 0;
      state.playing = true;
      state.last = 0;
      button.textContent = "Pause";
      if (!frame) frame = requestAnimationFrame(tick);
    }
    function pause() {
      state.playing = false;
      button.textContent = "Play";
    }
    function seek(part) {
      state.part = clamp(part, 0, 1);
      show();
    }

    // ---- hands ----
    const toggle = () => (state.playing ? pause() : play());
    button.addEventListener("click", toggle);
    slider.addEventListener("input", () => { pause(); seek(Number(slider.value) / 1000); });
    canvas.addEventListener("click", () => canvas.focus());
    root.addEventListener("keydown", (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      const on = event.target;
      const turning = spatial && event.shiftKey;
      const own = on === canvas || on === root;
      const keys = {
        " ": () => toggle(),
        ArrowLeft: () => (turning ? turn(-0.1, 0) : (pause(), seek(state.part - 0.01))),
        ArrowRight: () => (turning ? turn(0.1, 0) : (pause(), seek(state.part + 0.01))),
        ArrowUp: () => (turning ? turn(0, 0.1) : null),
        ArrowDown: () => (turning ? turn(0, -0.1) : null),
        Home: () => seek(0),
        End: () => seek(1),
        "+": () => { zoom = Math.min(zoom * 1.2, 50); paint(); },
        "-": () => { zoom = Math.max(zoom / 1.2, 0.02); paint(); },
        "0": () => { zoom = 1; if (spatial) startCamera(); paint(); },
      };
      const act = keys[event.key];
      if (!act || !own || (event.key.startsWith("Arrow") && !turning && /Up|Down/.test(event.key))) return;
      event.preventDefault();
      act();
    });
    function turn(sideways, upwards) {
      camera.turn -= sideways;
      camera.lift = clamp(camera.lift + upwards, -1.55, 1.55);
      paint();
    }
    if (spatial) {
      canvas.classList.add("pfaff-turns");
      let grip = null;
      canvas.addEventListener("pointerdown", (e) => { grip = [e.clientX, e.clientY]; canvas.setPointerCapture(e.pointerId); });
      canvas.addEventListener("pointermove", (e) => {
        if (!grip) return;
        turn((e.clientX - grip[0]) * 0.01, (e.clientY - grip[1]) * 0.01);
        grip = [e.clientX, e.clientY];
      });
      for (const end of ["pointerup", "pointercancel"]) canvas.addEventListener(end, () => { grip = null; });
      startCamera();
    }
    if (window.ResizeObserver) {
      let seen = 0;
      const follow = () => { if (canvas.clientWidth !== seen) { seen = canvas.clientWidth; resize(); } };
      new ResizeObserver(() => requestAnimationFrame(follow)).observe(canvas);
    } else window.addEventListener("resize", resize);
    const dark = window.matchMedia("(prefers-color-scheme: dark)");
    const recolour = () => { readAt = -1; paint(); };
    if (dark.addEventListener) dark.addEventListener("change", recolour);
    new MutationObserver(recolour).observe(document.documentElement, { attributes: true });
    resize();
    show();
    const calm = window.matchMedia("(prefers-reduced-motion: reduce)").matches;
    // Plays by itself once it is seen, unless the reader wants no motion.
    let leave = () => {};
    if (!calm && window.IntersectionObserver) {
      const watch = new IntersectionObserver((list) => {
        if (list.some((e) => e.isIntersecting)) { leave(); play(); }
      }, { threshold: 0.4 });
      leave = () => watch.disconnect();
      watch.observe(canvas);
      for (const hand of ["pointerdown", "keydown"]) root.addEventListener(hand, leave, { once: true });
    }
    return {
      get time() { return now(); },
      get playing() { return state.playing; },
      get frames() { return data.frames; },
      get start() { return data.start; },
      get end() { return data.end; },
      id: root.id, spatial,
      // From where it is seen: the size, and in space the angles.
      get camera() { return camera && { turn: camera.turn, lift: camera.lift }; },
      get view() { return { zoom, ...(camera && { turn: camera.turn, lift: camera.lift }) }; },
      set view(next) {
        if (next.zoom > 0) zoom = clamp(next.zoom, 0.02, 50);
        if (spatial && Number.isFinite(next.turn) && Number.isFinite(next.lift)) {
          camera.turn = next.turn;
          camera.lift = clamp(next.lift, -Math.PI / 2, Math.PI / 2);
          look();
        }
        paint();
      },
      play() { leave(); play(); },
      pause() { leave(); pause(); },
      seek(t) { leave(); seek(duration > 0 ? (t - data.start) / (data.end - data.start) : 0); },
      // Another motion of the same kind, at the same time and under the same view.
      update(next) {
        if ((next.dimension === 3) !== spatial) return false;
        load(next);
        resize();
        show();
        return true;
      },
      // A point of the plane on the canvas, and back.
      place(p) { return project(p); },
      point(at) {
        return [middle[0] + (at[0] - width / 2) / scale, middle[1] - (at[1] - height / 2) / scale];
      },
    };
  }

  const players = Array.from(document.querySelectorAll(".pfaff-animation"), Player);
  window.pfaffAnimations = players;
  window.pfaffPlayer = Player;
  window.pfaffAnimation = players[0] || null;
})();
