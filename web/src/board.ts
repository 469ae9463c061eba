// The plots of a motion, and the runs that were kept to lie under it.

import { byId, brief, element, worded } from "./dom";
import type { Outline, Shown } from "./engine";
import { Plot, type Columns } from "./plots";
import { asked, type Asked, type State } from "./state";

/** Letters of a name that a kept run gets by itself. */
const LONGEST_NAME = 32;

/** What the plots need of the workbench. */
export interface Bench {
  readonly state: State;
  /** What the text says, and the motion that is shown. */
  readonly own: Outline | null;
  readonly shown: Shown | null;
  /** Computes the motion with what is plotted now. */
  run(): void;
  /** Starts a motion at these values. */
  startAt(values: Record<string, number>): void;
}

/** The columns of a motion under a name. */
function columnsOf(shown: Shown, name: string): Columns {
  const values = new Map(shown.columns.map((c) => [c.name, c.values]));
  return { name, t: (values.get("t") ?? []) as number[], values };
}

export class Board {
  private plots: Plot[] = [];
  private kept: Columns[] = [];
  /** Every column that the motions of this text and of its earlier states had. */
  private known = new Set<string>();

  constructor(private readonly bench: Bench) {
    byId("more").addEventListener("click", () => this.add({ x: "t", y: this.firstColumns() }));
    byId("portrait").addEventListener("click", () => this.add(this.widestPortrait()));
    byId("keep").addEventListener("click", () => this.keep());
  }

  /** Draws the motion that is shown over the kept ones. */
  draw(): void {
    const { state, shown } = this.bench;
    if (!shown) return;
    const columns = columnsOf(shown, "now");
    for (const name of columns.values.keys()) this.known.add(name);
    if (state.plots.length === 0) state.plots = [{ x: "t", y: this.firstColumns() }];
    this.match();
    for (const [k, plot] of this.plots.entries()) {
      const { x, y } = this.visible(state.plots[k]!);
      const box = byId("plots").children[k]!;
      const fields = box.querySelectorAll<HTMLInputElement>("input");
      if (fields[0] && document.activeElement !== fields[0]) fields[0].value = y.join(", ");
      if (fields[1] && document.activeElement !== fields[1]) fields[1].value = x;
      const faults = shown.faults.filter((f) => [x, ...y].some((e) => f.includes(`\`${e}\``)));
      box.querySelector(".note")!.replaceChildren(...worded(faults.join(" ")));
      box.querySelector(".hint")!.textContent = this.isPortrait(k) ? "Click in the picture to start there." : "";
      plot.draw([...this.kept, columns], x, y);
    }
    let list = document.getElementById("column-names");
    if (!list) { list = element("datalist", { id: "column-names" }); document.body.append(list); }
    const names = [...columns.values.keys()];
    if (list.children.length !== names.length) list.replaceChildren(...names.map((n) => element("option", { value: n })));
  }

  /** What a plot shows: without the columns that went with a change of the text, which come back with them. */
  private visible(plot: { x: string; y: string[] }): { x: string; y: string[] } {
    const { shown } = this.bench;
    const there = new Set(shown?.columns.map((c) => c.name) ?? []);
    const isGone = (name: string) => shown !== null && this.known.has(name) && !there.has(name);
    const y = plot.y.filter((name) => !isGone(name));
    return { x: isGone(plot.x) ? "t" : plot.x, y: y.length ? y : this.firstColumns() };
  }

  /** The plots, as they are seen. */
  shownPlots(): State["plots"] {
    return this.bench.state.plots.map((p) => this.visible(p));
  }

  /** What is plotted and is no column by itself. */
  expressions(): string[] {
    const all = this.shownPlots().flatMap((p) => [p.x, ...p.y]);
    const names = new Set(this.bench.shown?.columns.map((c) => c.name) ?? []);
    const isColumn = (e: string) => names.has(e) && !/[-+*/^(]/.test(e);
    return [...new Set(all)].filter((e) => e !== "t" && !isColumn(e) && !/^(lambda|mu|reaction)\([^()]*\)'?$/.test(e));
  }

  /** The kept runs, as a link carries them. */
  keptRuns(): (Asked & { name: string })[] {
    const { text } = this.bench.state;
    return this.kept.flatMap(({ name, asked }) => (asked ? [{ ...asked, name, text: asked.text === text ? "" : asked.text }] : []));
  }

  /** Keeps a run of a link. */
  recall(shown: Shown, run: Asked): void {
    this.kept.push({ ...columnsOf(shown, run.name), asked: run });
    this.keptChanged();
  }

  forget(): void {
    this.kept = [];
    this.known.clear();
    this.drawKept();
  }

  private keep(): void {
    const { state, shown } = this.bench;
    if (!shown) return;
    const values = Object.entries({ ...state.set, ...state.initial });
    const changed = values.map(([name, x]) => `${name} = ${brief(Number(x.toPrecision(3)))}`).join(", ");
    const name = changed && changed.length <= LONGEST_NAME ? changed : `run ${this.kept.length + 1}`;
    this.kept.push({ ...columnsOf(shown, name), asked: asked(state) });
    this.keptChanged();
  }

  private keptChanged(): void {
    this.draw();
    this.drawKept();
  }

  /** The kept runs with their names. */
  private drawKept(): void {
    byId("kept").replaceChildren(...this.kept.map((run, k) => element("span", { class: "chip" },
      element("input", {
        value: run.name, "aria-label": `Name of kept run ${k + 1}`,
        change: (e) => { run.name = (e.target as HTMLInputElement).value.trim() || `run ${k + 1}`; this.draw(); },
      }),
      element("button", {
        type: "button", "aria-label": `Forget ${run.name}`, title: "Forget",
        click: () => { this.kept.splice(k, 1); this.keptChanged(); },
      }, "×"))));
  }

  private add(plot: { x: string; y: string[] }): void {
    this.bench.state.plots.push(plot);
    this.draw();
    this.bench.run();
  }

  /** As many plots as the state has. */
  private match(): void {
    const wanted = this.bench.state.plots.length;
    const parent = byId("plots");
    while (this.plots.length > wanted) { this.plots.pop()?.close(); parent.lastElementChild?.remove(); }
    while (this.plots.length < wanted) {
      const k = this.plots.length;
      const box = element("div", { class: "plot" }, this.choice(k));
      parent.append(box);
      const plot = new Plot(box);
      plot.clicked = (x, y) => this.clicked(k, x, y);
      this.plots.push(plot);
    }
  }

  /** The two fields above a plot: curves over axis. */
  private choice(k: number): HTMLElement {
    const { state } = this.bench;
    const { x, y } = state.plots[k]!;
    const change = () => {
      const curves = fields[0]!.value.split(/,(?![^([]*[)\]])/).map((s) => s.trim()).filter(Boolean);
      const plot = this.bench.state.plots[k];
      if (!plot || curves.length === 0) return;
      plot.y = curves;
      plot.x = fields[1]!.value.trim() || "t";
      this.bench.run();
    };
    const field = (label: string, value: string) =>
      element("input", { value, "aria-label": label, title: label, list: "column-names", change });
    const fields = [field("Curves: columns or expressions such as x^2 + y^2, with commas between them", y.join(", ")), field("Horizontal axis", x)];
    const close = element("button", {
      type: "button", class: "fold", title: "Take this plot away", "aria-label": `Take plot ${k + 1} away`, click: () => this.remove(k),
    }, "×");
    return element("div", {}, element("p", { class: "choice" }, fields[0]!, element("span", {}, " over "), fields[1]!, close),
      element("p", { class: "note" }), element("p", { class: "hint" }));
  }

  private remove(k: number): void {
    const { state } = this.bench;
    if (state.plots.length < 2) return;
    state.plots.splice(k, 1);
    // The fields of a plot know their place in the list: all are made anew.
    for (const plot of this.plots) plot.close();
    this.plots = [];
    byId("plots").replaceChildren();
    this.draw();
  }

  /** Whether a plot is a phase portrait: of a position and its velocity, or of two positions. */
  private isPortrait(k: number): boolean {
    const { state, own } = this.bench;
    const plot = state.plots[k] && this.visible(state.plots[k]);
    const names = new Set(own?.coordinates.flatMap((c) => [c, `${c}'`]));
    return plot !== undefined && !own?.ends && plot.y.length === 1 && names.has(plot.x) && names.has(plot.y[0]!);
  }

  /** A click on a phase portrait starts there. */
  private clicked(k: number, x: number, y: number): void {
    if (!this.isPortrait(k)) return;
    const plot = this.visible(this.bench.state.plots[k]!);
    this.keep();
    this.bench.startAt({ [plot.x]: Number(x.toPrecision(4)), [plot.y[0]!]: Number(y.toPrecision(4)) });
  }

  /** The coordinate with the fastest changes, with its velocity. */
  private widestPortrait(): { x: string; y: string[] } {
    const { own, shown } = this.bench;
    const spread = (name: string) => {
      const values = shown?.columns.find((c) => c.name === name)?.values.filter((v) => v !== null) ?? [];
      return Math.max(...values) - Math.min(...values);
    };
    const [first, ...rest] = own?.coordinates ?? [];
    const q = rest.reduce((best, c) => (spread(`${c}'`) > spread(`${best}'`) ? c : best), first ?? "t");
    return { x: q, y: [`${q}'`] };
  }

  /** What is plotted where nobody chose: up to three observed quantities or coordinates that change. */
  private firstColumns(): string[] {
    const { own, shown } = this.bench;
    const moves = (name: string) => {
      const values = shown?.columns.find((c) => c.name === name)?.values.filter((v) => v !== null) ?? [];
      const [least, most] = values.reduce(([a, b], v) => [Math.min(a, v), Math.max(b, v)], [Infinity, -Infinity]);
      // What rounding does is no motion.
      return most - least > 1e-9 * Math.max(Math.abs(least), Math.abs(most));
    };
    const observed = own?.observed.filter((o) => !o.startsWith("error") && moves(o)) ?? [];
    const there = observed.length ? observed : own?.coordinates.filter(moves) ?? [];
    return there.length ? there.slice(0, 3) : (shown?.columns.slice(1, 3).map((c) => c.name) ?? []);
  }
}
