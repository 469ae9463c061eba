// Plots of columns: over time, or one column against another. Kept runs lie under the current one.

import uPlot from "uplot";
import { brief, element, pictureOf } from "./dom";
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
      axes: [{ ...axis, label: x, labelSize: 18, size: 32, values: ticks }, { ...axis, size: 64, values: ticks }],
      scales: {
        x: { time: false, auto: true, range: (_: uPlot, a: number | null, b: number | null) => reach(a, b, modes === 2 ? 0.05 : 0) },
        y: { auto: true, range: (_: uPlot, a: number | null, b: number | null) => reach(a, b, 0.1) },
      },
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
    return pictureOf(this.box.querySelector("canvas"));
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

/** Numbers beside an axis, with as many digits as tell them apart. */
function ticks(_: uPlot, places: number[]): string[] {
  const size = Math.max(...places.map(Math.abs)), step = Math.abs((places[1] ?? 0) - (places[0] ?? 0)) || size;
  const digits = Math.max(0, Math.ceil(-Math.log10(step) - 1e-9) + (step < 10 ? 1 : 0));
  const small = size >= 1e6 || size < 1e-3;
  const text = (x: number) => (x === 0 ? "0" : small ? x.toExponential(Math.max(0, Math.min(6, Math.round(Math.log10(size / step))))) : String(Number(x.toFixed(Math.min(digits, 15)))));
  return places.map((x) => text(x).replace("e+", "e").replaceAll("-", "−"));
}

type Drawing = [unknown[], unknown[], 1 | 2];

/** Spreads below this part of a value are rounding: an axis of them has no ticks. */
const ROUNDING = 1e-10;

/** Where an axis begins and ends, with a part of the spread beside the curves; values that are all the same stand in its middle. */
function reach(least: number | null, most: number | null, part: number): [number, number] {
  if (least === null || most === null || !Number.isFinite(least + most)) return [0, 1];
  const size = Math.max(Math.abs(least), Math.abs(most));
  if (most - least > ROUNDING * size) return part ? uPlot.rangeNum(least, most, part, true) as [number, number] : [least, most];
  const middle = (least + most) / 2, beside = Math.abs(middle) / 5 || 1;
  return [middle - beside, middle + beside];
}

/** A value below the plot; nothing where the pointer is elsewhere. */
const value = (_: uPlot, x: number | null | undefined) => (typeof x === "number" ? brief(x) : "");

/** Dashes of kept runs, the latest one first. */
const DASHES = [[6, 4], [2, 3], [9, 3, 2, 3]];

/** A curve: its colour tells the column, or the run where there is one column; the current run is drawn in full. */
const curve = (run: Columns, runs: Columns[], y: string[], k: number) => {
  const age = runs.length - 1 - runs.indexOf(run);
  return {
    label: age === 0 ? y[k] : `${y[k]} (${run.name})`, stroke: colour(y.length > 1 ? k : age), width: age === 0 ? 1.8 : 1.2,
    dash: age === 0 ? undefined : DASHES[(age - 1) % DASHES.length], points: { show: false }, value, pxAlign: 0,
  };
};

function overTime(runs: Columns[], y: string[]): Drawing {
  const tables = runs.map((run) => [run.t, ...y.map((name) => run.values.get(name) ?? run.t.map(() => null))]);
  const series = runs.flatMap((run) => y.map((_, k) => curve(run, runs, y, k)));
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
  for (const run of runs) {
    for (const [k, name] of y.entries()) {
      series.push({ ...curve(run, runs, y, k), facets: [{ scale: "x", auto: true }, { scale: "y", auto: true }], paths: lines });
      data.push([run.values.get(x) ?? [], run.values.get(name) ?? []]);
    }
  }
  return [series, data, 2];
}
