// Plots of columns: over time, or one column against another. Kept runs lie under the current one.

import uPlot from "uplot";
import { brief, element } from "./dom";
import type { Asked } from "./state";

export interface Columns { name: string; t: number[]; values: Map<string, (number | null)[]>; asked?: Asked }

/** Colours that people with any kind of colour vision tell apart, on white and on black. */
const ON_WHITE = ["#0072b2", "#c44e00", "#00805d", "#a8548a", "#8a6d00", "#2f7fb5", "#6b5d00", "#4b0082"];
const ON_BLACK = ["#4ea8e0", "#f0803c", "#2fc39a", "#d98fbb", "#e69f00", "#9ad4f5", "#f0e442", "#b39ddb"];
const dark = () => document.documentElement.dataset.theme === "dark"
  || (document.documentElement.dataset.theme !== "light" && matchMedia("(prefers-color-scheme: dark)").matches);
const colour = (k: number) => { const list = dark() ? ON_BLACK : ON_WHITE; return list[k % list.length]!; };
const css = (name: string) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

export class Plot {
  private chart: uPlot | null = null;
  private readonly box = element("div", { class: "chart", role: "img" });
  private readonly watch: ResizeObserver;
  private drawn = "";
  /** What a click on a portrait means: the point there. */
  clicked: ((x: number, y: number) => void) | null = null;

  constructor(parent: HTMLElement) {
    parent.append(this.box);
    this.watch = new ResizeObserver(() => this.resize());
    this.watch.observe(this.box);
  }

  /** Draws columns of the runs, the last of which is the current one; as dots where rows are no neighbours. */
  draw(runs: Columns[], x: string, y: string[], dots = false): void {
    const [series, data, modes] = x === "t" && !dots ? overTime(runs, y) : portrait(runs, x, y, dots);
    this.box.setAttribute("aria-label", `${y.join(", ")} over ${x}`);
    const kind = JSON.stringify([x, y, runs.map((r) => r.name), css("--ink"), dots]);
    if (this.chart && this.drawn === kind) {
      this.chart.setData(data as uPlot.AlignedData);
      return;
    }
    this.drawn = kind;
    this.chart?.destroy();
    const axis = { stroke: css("--ink"), grid: { stroke: css("--line"), width: 1 }, ticks: { stroke: css("--line"), width: 1 } };
    const options: uPlot.Options = {
      width: this.box.clientWidth || 400, height: this.height(), mode: modes, series: series as uPlot.Series[],
      axes: [{ ...axis, label: x, labelSize: 18, size: 32 }, { ...axis, size: 56 }],
      scales: { x: { time: false, auto: true }, y: { auto: true } },
      cursor: { drag: { x: true, y: modes === 2, uni: 20 } },
      legend: { live: modes === 1 },
    } as uPlot.Options;
    this.chart = new uPlot(options, data as uPlot.AlignedData, this.box);
    let down: [number, number] | null = null;
    const over = this.chart.over;
    over.addEventListener("pointerdown", (e) => { down = [e.clientX, e.clientY]; });
    over.addEventListener("click", (e) => {
      const still = down && Math.hypot(e.clientX - down[0], e.clientY - down[1]) < 4;
      if (!still || !this.chart || !this.clicked) return;
      this.clicked(this.chart.posToVal(e.offsetX, "x"), this.chart.posToVal(e.offsetY, "y"));
    });
  }

  /** The picture as a PNG. */
  picture(): Promise<Blob | null> {
    const canvas = this.box.querySelector("canvas");
    return new Promise((resolve) => (canvas ? canvas.toBlob(resolve) : resolve(null)));
  }

  close(): void {
    this.watch.disconnect();
    this.chart?.destroy();
    this.box.remove();
  }

  private height(): number {
    return Math.max(180, Math.min(340, Math.round((this.box.clientWidth || 400) * 0.55)));
  }

  private resize(): void {
    if (this.chart && this.box.clientWidth) this.chart.setSize({ width: this.box.clientWidth, height: this.height() });
  }
}

type Drawing = [unknown[], unknown[], 1 | 2];

/** A value below the plot; nothing where the pointer is elsewhere. */
const value = (_: uPlot, x: number | null | undefined) => (typeof x === "number" ? brief(x) : "");

const curve = (run: Columns, runs: Columns[], name: string, k: number) => {
  const current = run === runs[runs.length - 1];
  return {
    label: current ? name : `${name} (${run.name})`, stroke: colour(k), width: current ? 1.8 : 1.2,
    dash: current ? undefined : [5, 4], points: { show: false }, value,
  };
};

function overTime(runs: Columns[], y: string[]): Drawing {
  const tables = runs.map((run) => [run.t, ...y.map((name) => run.values.get(name) ?? run.t.map(() => null))]);
  const series = runs.flatMap((run, r) => y.map((name, k) => curve(run, runs, name, k + r)));
  const joined = tables.length === 1 ? tables[0] : uPlot.join(tables as uPlot.AlignedData[]);
  // Rows that another run adds are no gaps.
  const all = series.map((s) => ({ ...s, spanGaps: runs.length > 1 }));
  return [[{ label: "t", value }, ...all], joined, 1];
}

function portrait(runs: Columns[], x: string, y: string[], dots: boolean): Drawing {
  const series: unknown[] = [{}];
  const data: unknown[] = [null];
  const lines = (chart: uPlot, index: number) => {
    const [xs, ys] = (chart.data as unknown as number[][][])[index]!;
    const { ctx } = chart;
    const shape = chart.series[index] as unknown as { stroke: unknown; width: number; dash?: number[] };
    const stroke = typeof shape.stroke === "function" ? (shape.stroke as (u: uPlot, i: number) => string)(chart, index) : shape.stroke;
    ctx.save();
    ctx.beginPath();
    ctx.rect(chart.bbox.left, chart.bbox.top, chart.bbox.width, chart.bbox.height);
    ctx.clip();
    ctx.beginPath();
    let fresh = true;
    for (let i = 0; i < xs!.length; i += 1) {
      const a = xs![i], b = ys![i];
      if (a === null || b === null || a === undefined || b === undefined) { fresh = true; continue; }
      const px = chart.valToPos(a, "x", true), py = chart.valToPos(b, "y", true);
      if (dots) { ctx.moveTo(px, py); ctx.lineTo(px, py); continue; }
      if (fresh) ctx.moveTo(px, py); else ctx.lineTo(px, py);
      fresh = false;
    }
    ctx.strokeStyle = stroke as string;
    ctx.lineWidth = (dots ? 3.5 : shape.width) * devicePixelRatio;
    ctx.lineCap = "round";
    ctx.setLineDash((shape.dash ?? []).map((d) => d * devicePixelRatio));
    ctx.stroke();
    ctx.restore();
    return null;
  };
  for (const [r, run] of runs.entries()) {
    for (const [k, name] of y.entries()) {
      series.push({ ...curve(run, runs, name, k + r), facets: [{ scale: "x", auto: true }, { scale: "y", auto: true }], paths: lines });
      data.push([run.values.get(x) ?? [], run.values.get(name) ?? []]);
    }
  }
  return [series, data, 2];
}
