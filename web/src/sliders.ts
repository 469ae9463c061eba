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

/** Sliders for some values; `moved` is called with every change, and with `null` to put a value back. */
export function sliders(
  parent: HTMLElement, heading: string, all: Knob[], moved: (name: string, value: number | null) => void,
): void {
  const knobs = all.slice(0, MOST);
  const focused = document.activeElement?.getAttribute("data-knob");
  const kind = document.activeElement?.getAttribute("type");
  const inside = parent.contains(document.activeElement);
  const rows = knobs.map((knob) => {
    const id = `knob-${heading}-${knob.name}`.replace(/[^\w-]/g, (c) => `_${c.charCodeAt(0)}`);
    const [low, high] = range(knob);
    const min = Math.min(low, knob.value), max = Math.max(high, knob.value);
    const slider = element("input", {
      type: "range", min: String(min), max: String(max), step: knob.whole ? "1" : String((max - min) / 400 || 0.01),
      id, "data-knob": knob.name,
    });
    slider.value = String(knob.value);
    const field = element("input", {
      type: "number", step: knob.whole ? "1" : "any", value: plain(knob.value), "aria-label": `${knob.name}, as a number`,
      "data-knob": knob.name,
    });
    const back = element("button", {
      type: "button", class: "back", title: "Back to the value of the text", "aria-label": `${knob.name}: back to the value of the text`,
      click: () => moved(knob.name, null),
    }, "↺");
    const isOwn = (value: number) => { back.style.visibility = value === knob.own ? "hidden" : "visible"; };
    isOwn(knob.value);
    const tell = (text: string, from: HTMLInputElement, other: HTMLInputElement) => {
      const value = Number(text);
      if (text.trim() === "" || !Number.isFinite(value)) return;
      if (other.type === "range") { other.min = String(Math.min(Number(other.min), value)); other.max = String(Math.max(Number(other.max), value)); }
      other.value = String(value);
      isOwn(value);
      from.setAttribute("aria-valuetext", `${knob.name} = ${value}`);
      moved(knob.name, value);
    };
    // Four digits: what a hand means.
    slider.addEventListener("input", () => tell(String(Number(Number(slider.value).toPrecision(4))), slider, field));
    field.addEventListener("input", () => tell(field.value, field, slider));
    const label = element("label", { for: id, title: knob.found ?? "" }, knob.name);
    return element("div", { class: knob.found ? "knob found" : "knob" }, label, slider, field, back);
  });
  const more = all.length > MOST ? [element("p", { class: "hint" }, `${all.length - MOST} more are in the text alone.`)] : [];
  parent.replaceChildren(...(rows.length ? [element("h3", {}, heading), ...rows, ...more] : []));
  if (focused && inside) {
    const again = [...parent.querySelectorAll<HTMLInputElement>("input")];
    again.find((i) => i.getAttribute("data-knob") === focused && i.type === kind)?.focus();
  }
}
