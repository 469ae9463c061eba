// A slider and a number field for every parameter and initial value.

import { element } from "./dom";

export interface Knob {
  name: string;
  value: number;
  /** The value of the text. */
  own: number;
  /** Whole numbers only: it decides a size. */
  whole?: boolean;
  /** A note for what the text does not give. */
  found?: string;
}

/** A range around the value of the text: zero to twice, or −1 to 1 about zero. */
function range(knob: Knob): [number, number] {
  // What the text does not give has its range about where it is.
  const own = Number.isFinite(knob.own) ? knob.own : knob.value;
  if (knob.whole) return [1, Math.max(2 * own, own + 4)];
  if (own === 0) return [-1, 1];
  return own > 0 ? [0, 2 * own] : [2 * own, 0];
}

/** Sliders of one kind; a column of hundreds helps nobody. */
const MOST = 30;

/** As people write numbers. */
const plain = (x: number): string => String(Number(x.toPrecision(6)));

/** What a slider is made of: other values move it, anything else makes another one. */
const shape = (knob: Knob): string =>
  JSON.stringify([knob.name, knob.found || !Number.isFinite(knob.own) ? null : knob.own, knob.whole ?? false]);

interface Row { show(knob: Knob): void; readonly slider: HTMLInputElement; readonly field: HTMLInputElement; readonly box: HTMLElement }
const rowsOf = new WeakMap<HTMLElement, { shapes: string; rows: Row[] }>();

/** Sliders for some values; `moved` is called with every change, and with `null` to put a value back. */
export function sliders(
  parent: HTMLElement, heading: string, all: Knob[], moved: (name: string, value: number | null) => void,
): void {
  const knobs = all.slice(0, MOST);
  const shapes = JSON.stringify([...knobs.map(shape), all.length]);
  const held = document.activeElement;
  const known = rowsOf.get(parent);
  if (known?.shapes === shapes) {
    // What a hand holds is where the hand is.
    known.rows.forEach((row, k) => { if (row.slider !== held && row.field !== held) row.show(knobs[k]!); });
    return;
  }
  const rows = knobs.map((knob) => rowOf(heading, knob, moved));
  rowsOf.set(parent, { shapes, rows });
  const inside = parent.contains(held);
  const [name, type] = [held?.getAttribute("data-knob"), held?.getAttribute("type")];
  const more = all.length > MOST ? [element("p", { class: "hint" }, `${all.length - MOST} more are in the text alone.`)] : [];
  parent.replaceChildren(...(rows.length ? [element("h3", {}, heading), ...rows.map((r) => r.box), ...more] : []));
  if (!inside) return;
  const again = rows.flatMap((r) => [r.slider, r.field]);
  again.find((i) => i.getAttribute("data-knob") === name && i.type === type)?.focus();
}

/** A slider with its field and its way back. */
function rowOf(heading: string, first: Knob, moved: (name: string, value: number | null) => void): Row {
  let knob = first;
  const { name } = first;
  const id = `knob-${heading}-${name}`.replace(/[^\w-]/g, (c) => `_${c.charCodeAt(0)}`);
  const slider = element("input", { type: "range", id, "data-knob": name });
  const field = element("input", { type: "number", step: knob.whole ? "1" : "any", "aria-label": `${name}, as a number`, "data-knob": name });
  const back = element("button", {
    type: "button", class: "back", title: "Back to the value of the text", "aria-label": `${name}: back to the value of the text`,
    click: () => {
      if (Number.isFinite(knob.own)) show({ ...knob, value: knob.own });
      moved(name, null);
    },
  }, "↺");
  const label = element("label", { for: id }, name);
  const box = element("div", {}, label, slider, field, back);
  const reach = (value: number) => {
    const [low, high] = range(knob);
    const min = Math.min(low, value), max = Math.max(high, value);
    slider.min = String(min);
    slider.max = String(max);
    slider.step = knob.whole ? "1" : String((max - min) / 400 || 0.01);
  };
  const tell = (value: number) => {
    back.style.visibility = value === knob.own ? "hidden" : "visible";
    slider.setAttribute("aria-valuetext", `${name} = ${plain(value)}`);
  };
  const show = (next: Knob) => {
    knob = next;
    const { value } = knob;
    if (slider.min === "" || value < Number(slider.min) || value > Number(slider.max)) reach(value);
    slider.value = String(value);
    field.value = plain(value);
    label.title = knob.found ?? "";
    box.className = knob.found ? "knob found" : "knob";
    tell(value);
  };
  show(first);
  // Four digits: what a hand means.
  slider.addEventListener("input", () => {
    const value = Number(Number(slider.value).toPrecision(4));
    field.value = String(value);
    tell(value);
    moved(name, value);
  });
  field.addEventListener("input", () => {
    const value = Number(field.value);
    if (field.value.trim() === "" || !Number.isFinite(value)) return;
    if (value < Number(slider.min) || value > Number(slider.max)) reach(value);
    slider.value = String(value);
    tell(value);
    moved(name, value);
  });
  return { show, slider, field, box };
}
