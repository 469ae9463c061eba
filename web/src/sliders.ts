// A slider and a number field for every parameter and initial value.

import { element } from "./dom";

export interface Knob { name: string; value: number; own: number }

/** A range around the value of the text: zero to twice, or −1 to 1 about zero. */
function range(own: number): [number, number] {
  if (own === 0) return [-1, 1];
  return own > 0 ? [0, 2 * own] : [2 * own, 0];
}

/** Sliders for some values; `moved` hears every change, and `null` puts a value back to that of the text. */
export function sliders(
  parent: HTMLElement, heading: string, knobs: Knob[], moved: (name: string, value: number | null) => void,
): void {
  const focused = document.activeElement?.getAttribute("data-knob");
  const kind = document.activeElement?.getAttribute("type");
  const rows = knobs.map((knob) => {
    const id = `knob-${heading}-${knob.name}`.replace(/[^\w-]/g, (c) => `_${c.charCodeAt(0)}`);
    const [low, high] = range(knob.own);
    const min = Math.min(low, knob.value), max = Math.max(high, knob.value);
    const slider = element("input", {
      type: "range", min: String(min), max: String(max), step: String((max - min) / 400 || 0.01),
      value: String(knob.value), id, "data-knob": knob.name,
    });
    slider.value = String(knob.value);
    const field = element("input", {
      type: "number", step: "any", value: String(knob.value), "aria-label": `${knob.name}, as a number`, "data-knob": knob.name,
    });
    const back = element("button", {
      type: "button", class: "back", title: "Back to the value of the text", "aria-label": `${knob.name}: back to the value of the text`,
      click: () => moved(knob.name, null),
    }, "↺");
    back.hidden = knob.value === knob.own;
    const tell = (text: string, from: HTMLInputElement, other: HTMLInputElement) => {
      const value = Number(text);
      if (text.trim() === "" || !Number.isFinite(value)) return;
      if (other.type === "range") { other.min = String(Math.min(Number(other.min), value)); other.max = String(Math.max(Number(other.max), value)); }
      other.value = String(value);
      back.hidden = value === knob.own;
      from.setAttribute("aria-valuetext", `${knob.name} = ${value}`);
      moved(knob.name, value);
    };
    // Five digits: what a hand means.
    slider.addEventListener("input", () => tell(String(Number(Number(slider.value).toPrecision(4))), slider, field));
    field.addEventListener("input", () => tell(field.value, field, slider));
    return element("div", { class: "knob" }, element("label", { for: id }, knob.name), slider, field, back);
  });
  parent.replaceChildren(...(rows.length ? [element("h3", {}, heading), ...rows] : []));
  if (focused) {
    const again = [...parent.querySelectorAll<HTMLInputElement>("input")];
    again.find((i) => i.getAttribute("data-knob") === focused && i.type === kind)?.focus();
  }
}
