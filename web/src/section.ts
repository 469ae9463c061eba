// Where the motion crosses a surface: its points, two columns of them as a picture, and as a table.

import { byId, worded } from "./dom";
import type { Answer, Question } from "./engine";
import { Plot } from "./plots";

/** How many points are asked for. */
const COUNT = 1000;
interface Crossings { section: { t: number[]; q: Record<string, number[]>; v: Record<string, number[]> } }

export class Section {
  private points: { x: string; y: string; values: Map<string, number[]> } | null = null;
  private readonly plot = new Plot(byId("section-plot"));
  private readonly on = byId<HTMLInputElement>("section-on");
  private readonly fields: [HTMLInputElement, HTMLInputElement] = [byId("section-x"), byId("section-y")];
  private readonly note = byId("section-note");

  constructor(private readonly ask: (more: Partial<Question>) => Promise<Answer<Crossings>>) {}

  /** The surface, as it was written. */
  get surface(): string {
    return this.on.value.trim();
  }

  set surface(text: string) {
    this.on.value = text;
  }

  /** Looks for the points of a motion; without a surface, where its first coordinate rises. What to tell. */
  async find(first: string): Promise<string | null> {
    if (!this.surface) this.surface = `rising ${first}`;
    const on = this.surface;
    this.note.textContent = "";
    const answer = await this.ask({ on, count: COUNT, t1: null });
    if (answer.error) { this.note.replaceChildren(...worded(answer.error.message)); return null; }
    const { t, q, v } = answer.section;
    const rates = Object.entries(v).map(([name, values]) => [`${name}'`, values] as [string, number[]]);
    const values = new Map<string, number[]>([["t", t], ...Object.entries(q), ...rates]);
    const names = [...values.keys()].filter((n) => n !== "t" && new Set(values.get(n)).size > 1);
    const [x, y] = this.fields;
    if (!values.has(x.value)) x.value = names.find((n) => n !== first && !n.endsWith("'")) ?? names[0] ?? "t";
    if (!values.has(y.value)) y.value = names.find((n) => n === `${x.value}'`) ?? names.find((n) => n !== x.value) ?? "t";
    this.points = { x: x.value, y: y.value, values };
    this.note.textContent = t.length ? "" : "The motion never crosses this surface.";
    this.draw();
    return t.length ? `${t.length} ${t.length === 1 ? "point" : "points"} where ${on}` : `No points where ${on}`;
  }

  draw(): void {
    const t = this.points?.values.get("t") ?? [];
    byId("section-plot").hidden = t.length === 0;
    if (this.points && t.length) this.plot.draw([{ name: "now", t, values: this.points.values }], this.points.x, [this.points.y], true);
  }

  clear(): void {
    this.surface = "";
    this.points = null;
    this.draw();
  }

  picture(): Promise<Blob | null> {
    return this.plot.picture();
  }

  /** The points as CSV; nothing before they were looked for. */
  table(): string | null {
    if (!this.points) return null;
    const columns = [...this.points.values];
    const rows = this.points.values.get("t")!.map((_, i) => columns.map(([, values]) => String(values[i])).join(","));
    return [columns.map(([name]) => name).join(","), ...rows, ""].join("\n");
  }
}
