// Plots of columns: over time, or one column against another. Kept runs lie under the current one.

import uPlot from "uplot";
import { element } from "./dom";

export interface Columns { name: string; t: number[]; values: Map<string, (number | null)[]> }

const COLOURS = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#7a6a00", "#4b0082"];
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

  /** Draws columns of the runs, the last of which is the current one. */
  draw(runs: Columns[], x: string, y: string[]): void {
    const [series, data, modes] = x === "t" ? overTime(runs, y) : portrait(runs, x, y);
    this.box.setAttribute("aria-label", `${y.join(", ")} over ${x}`);
    const kind = JSON.stringify([x, y, runs.map((r) => r.name), css("--ink")]);
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
      hooks: {
        ready: [(chart) => chart.over.addEventListener("dblclick", () => this.draw(runs, x, y))],
      },
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

const curve = (run: Columns, runs: Columns[], name: string, k: number) => {
  const current = run === runs[runs.length - 1];
  return {
    label: current ? name : `${name} (${run.name})`, stroke: COLOURS[k % COLOURS.length], width: current ? 1.8 : 1.2,
    dash: current ? undefined : [5, 4], points: { show: false },
  };
};

function overTime(runs: Columns[], y: string[]): Drawing {
  const tables = runs.map((run) => [run.t, ...y.map((name) => run.values.get(name) ?? run.t.map(() => null))]);
  const series = runs.flatMap((run, r) => y.map((name, k) => curve(run, runs, name, k + r)));
  const joined = tables.length === 1 ? tables[0] : uPlot.join(tables as uPlot.AlignedData[]);
  // Rows that another run adds are no gaps.
  const all = series.map((s) => ({ ...s, spanGaps: runs.length > 1 }));
  return [[{ label: "t" }, ...all], joined, 1];
}

function portrait(runs: Columns[], x: string, y: string[]): Drawing {
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
      if (fresh) ctx.moveTo(px, py); else ctx.lineTo(px, py);
      fresh = false;
    }
    ctx.strokeStyle = stroke as string;
    ctx.lineWidth = shape.width * devicePixelRatio;
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
