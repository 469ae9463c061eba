// The workbench: one state, and views that follow it.

import { assignments, packed, start, unpacked, type State } from "./state";
import { brief, byId, eachFrame, element, save } from "./dom";
import { Editor, type Words } from "./editor";
import { engine, type Engine, type Fault, type Outline, type Question, type Reading, type Shown } from "./engine";
import { LESSONS } from "./lessons";
import { Plot, type Columns } from "./plots";
import { sliders } from "./sliders";
import { Stage, type Handle } from "./stage";

const FORMS: [string, string][] = [
  ["multipliers", "Multipliers"], ["reduced", "Reduced"], ["hamilton", "Hamilton"], ["kane", "Kane"],
  ["gibbs_appell", "Gibbs–Appell"], ["boltzmann_hamel", "Boltzmann–Hamel"], ["voronets", "Voronets"], ["routhian", "Routh"],
];
/** What is written to files. */
const EXPORTS: [string, string][] = [
  ["report", "Page (HTML)"], ["csv", "Table (CSV)"], ["latex", "Equations (LaTeX)"], ["c", "C"], ["python", "Python"], ["rust", "Rust"],
];

class Workbench {
  private state: State = start("", "");
  private outline: Outline | null = null;
  /** The values of the text, before any slider was moved. */
  private own: Outline | null = null;
  private shown: Shown | null = null;
  private kept: Columns[] = [];
  private plots: Plot[] = [];
  private readonly sectionPlot = new Plot(byId("section-plot"));
  private stages: Stage[] = [];
  private readonly stage = new Stage(byId("animation"), "Animation of the motion", (h, x, y) => this.dragged(h, x, y));
  private readonly editor: Editor;
  private gallery = new Map<string, { title: string; text: string }>();
  private runs = 0;
  private busy = false;
  private again = false;

  constructor(private readonly engine: Engine) {
    this.editor = new Editor(byId("editor"), "", (text) => this.typed(text));
    byId("home").textContent = engine.home;
  }

  async begin(): Promise<void> {
    const [list, words] = await Promise.all([
      this.engine.ask<{ pfaff: string; models: { name: string; title: string; text: string }[] }>({ ask: "gallery" }),
      this.engine.ask<Words>({ ask: "words" }),
    ]);
    this.editor.know(words);
    const chooser = byId<HTMLSelectElement>("gallery");
    for (const model of list.models) {
      this.gallery.set(model.name, model);
      chooser.append(element("option", { value: model.name }, `${model.name}: ${model.title}`));
    }
    this.listen(chooser);
    const given = document.getElementById("pfaff-state")?.textContent;
    const shared = (given && (await unpacked(given.trim()))) || (location.hash.length > 1 && (await unpacked(location.hash.slice(1))));
    const opened = document.getElementById("pfaff-model")?.textContent;
    if (!shared && opened) {
      const { name, text } = JSON.parse(opened) as { name: string; text: string };
      this.state = start(text, name);
      chooser.value = this.gallery.get(name)?.text === text ? name : "";
      this.editor.text = text;
    } else if (shared) {
      this.state = shared;
      chooser.value = this.gallery.has(shared.name) ? shared.name : "";
      this.editor.text = shared.text;
    } else {
      chooser.value = "sleigh";
      this.open("sleigh");
    }
    const options = new URLSearchParams(location.search);
    if (options.get("editor") === "hidden") document.body.classList.add("no-editor");
    await this.read();
  }

  private listen(chooser: HTMLSelectElement): void {
    chooser.addEventListener("change", () => { this.open(chooser.value); void this.read(); });
    byId<HTMLSelectElement>("principle").addEventListener("change", (e) => {
      this.state.principle = (e.target as HTMLSelectElement).value;
      void this.read();
    });
    byId<HTMLInputElement>("t1").addEventListener("input", (e) => {
      const value = Number((e.target as HTMLInputElement).value);
      this.state.t1 = (e.target as HTMLInputElement).value.trim() === "" || !Number.isFinite(value) ? null : value;
      this.run();
    });
    byId("stop").addEventListener("click", () => this.engine.cancel());
    byId("share").addEventListener("click", () => void this.share());
    byId("more").addEventListener("click", () => { this.state.plots.push({ x: "t", y: this.firstColumns() }); this.drawPlots(); });
    byId("keep").addEventListener("click", () => this.keep());
    byId("drop").addEventListener("click", () => { this.kept = []; byId("drop").hidden = true; this.drawPlots(); });
    byId("compare-now").addEventListener("click", () => void this.compare());
    byId("section-now").addEventListener("click", () => void this.section());
    byId("exports").append(...EXPORTS.map(([kind, label]) =>
      element("button", { type: "button", click: () => void this.export(kind) }, label)),
      element("button", { type: "button", click: () => void this.exportPlot() }, "First plot (PNG)"),
      element("button", { type: "button", click: () => void this.exportBench() }, "This workbench (one file)"));
    const tabs = byId("forms");
    tabs.append(...FORMS.map(([form, label]) =>
      element("button", { type: "button", role: "tab", "data-form": form, click: () => { this.state.form = form; void this.equations(); } }, label)));
    tabs.addEventListener("keydown", (event) => {
      const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      const buttons = [...tabs.querySelectorAll("button")];
      const at = buttons.indexOf(document.activeElement as HTMLButtonElement);
      if (!step || at < 0) return;
      const next = buttons[(at + step + buttons.length) % buttons.length]!;
      next.focus();
      next.click();
    });
    for (const view of document.querySelectorAll<HTMLElement>(".view")) {
      const name = view.dataset.view!;
      const fold = element("button", { type: "button", class: "fold", "aria-expanded": "true", "aria-label": `Close or open: ${name}` }, "–");
      const large = element("button", { type: "button", class: "fold", "aria-pressed": "false", "aria-label": `Enlarge: ${name}` }, "⤢");
      fold.addEventListener("click", () => {
        const closed = view.classList.toggle("closed");
        fold.setAttribute("aria-expanded", String(!closed));
        fold.textContent = closed ? "+" : "–";
        this.state.closed = [...document.querySelectorAll<HTMLElement>(".view.closed")].map((v) => v.dataset.view!);
      });
      large.addEventListener("click", () => {
        const on = view.classList.toggle("large");
        large.setAttribute("aria-pressed", String(on));
      });
      view.querySelector("h2")!.append(element("span", { class: "tools" }, large, fold));
      if (["compare", "section", "table"].includes(name)) fold.click();
    }
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.drawPlots());
  }

  /** A model of the gallery in its first state. */
  private open(name: string): void {
    const model = this.gallery.get(name);
    if (!model) return;
    this.state = { ...start(model.text, name), form: this.state.form };
    this.kept = [];
    byId("drop").hidden = true;
    byId<HTMLSelectElement>("principle").value = "";
    byId<HTMLInputElement>("t1").value = "";
    byId<HTMLInputElement>("section-on").value = "";
    this.own = null;
    this.editor.text = model.text;
    const lesson = LESSONS[name];
    byId("lesson").replaceChildren(...(lesson ? [element("details", { class: "lesson" },
      element("summary", {}, `Lesson: ${lesson.title}`), element("p", {}, lesson.text),
      element("ol", {}, ...lesson.tries.map((t) => element("li", {}, t))))] : []));
  }

  private typed(text: string): void {
    if (text === this.state.text) return;
    this.state.text = text;
    // A new text has values of its own.
    this.own = null;
    this.readSoon();
  }

  private readonly readSoon = eachFrame(() => void this.read());

  private question(ask: string, more: Record<string, unknown> = {}): Question {
    const s = this.state;
    return {
      ask, text: this.observedText(), name: s.name || "model", set: assignments(s.set), initial: assignments(s.initial),
      principle: s.principle, t1: s.t1, tolerance: s.tolerance, ...more,
    };
  }

  /** The text, with an `observe` for each expression that is plotted. */
  private observedText(): string {
    const lines = this.expressions().map((e, k) => `observe plot_${k + 1} = ${e}`);
    return lines.length ? `${this.state.text}\n${lines.join("\n")}\n` : this.state.text;
  }

  /** What is plotted and is no column by itself. */
  private expressions(): string[] {
    const all = this.state.plots.flatMap((p) => [p.x, ...p.y]);
    const names = new Set(["t", ...(this.shown?.columns.map((c) => c.name) ?? [])]);
    return [...new Set(all)].filter((e) => e !== "t" && !names.has(e) && /[^\w'[\],()]|\(/.test(e) && !this.isColumn(e));
  }

  private isColumn(name: string): boolean {
    return this.shown?.columns.some((c) => c.name === name) ?? false;
  }

  /** Reads the text: colours, mistakes, sliders; then the motion and the equations. */
  private async read(): Promise<void> {
    const text = this.state.text;
    const plain = { ask: "read", text, name: this.state.name || "model" };
    const reading = await this.engine.ask<Reading>(plain);
    if (text !== this.state.text) return;
    if (reading.error) return this.fault(reading.error);
    this.editor.show(reading);
    this.mistakes(reading.diagnostics);
    if (!reading.model) return this.say("the text has a mistake", true);
    this.own = reading.model;
    this.outline = reading.model;
    this.forget();
    this.knobs();
    this.run();
    void this.equations();
  }

  /** Values of sliders whose names the text no longer has. */
  private forget(): void {
    const parameters = new Set(this.own?.parameters.map((p) => p.name));
    for (const name of Object.keys(this.state.set)) if (!parameters.has(name)) delete this.state.set[name];
    const names = new Set(this.own?.coordinates.flatMap((c) => [c, `${c}'`]));
    for (const d of this.own?.initial ?? []) names.add(d.name);
    for (const name of Object.keys(this.state.initial)) if (!names.has(name)) delete this.state.initial[name];
  }

  private mistakes(list: Reading["diagnostics"]): void {
    byId("mistakes").replaceChildren(...list.map((d) => element("li", { class: d.severity },
      element("button", { type: "button", click: () => this.editor.goTo(d.from) }, `Line ${d.line}, column ${d.column}`),
      ` ${d.message}`, ...(d.hint ? [element("em", {}, ` ${d.hint}`)] : []))));
  }

  private knobs(): void {
    const { own, state } = this;
    if (!own) return;
    const parameters = own.parameters.filter((p) => !p.derived && !p.name.includes("["));
    sliders(byId("parameters"), "Parameters",
      parameters.map((p) => ({ name: p.name, own: p.value, value: state.set[p.name] ?? p.value })),
      (name, value) => this.turn(state.set, name, value));
    const given = new Map(own.initial.map((d) => [d.name, d.value]));
    for (const name of Object.keys(state.initial)) if (!given.has(name)) given.set(name, state.initial[name]!);
    // Small models have a slider for every position and velocity.
    if (own.coordinates.length <= 6 && !own.ends) {
      for (const c of own.coordinates) for (const n of [c, `${c}'`]) if (!given.has(n)) given.set(n, 0);
    }
    sliders(byId("initial"), "Start",
      [...given].map(([name, value]) => ({ name, own: value, value: state.initial[name] ?? value })),
      (name, value) => this.turn(state.initial, name, value));
  }

  private turn(values: Record<string, number>, name: string, value: number | null): void {
    if (value === null) delete values[name]; else values[name] = value;
    if (value === null) this.knobs();
    this.run();
  }

  private dragged(handle: Handle, x: number, y: number): void {
    const four = (v: number) => Number(v.toPrecision(4));
    this.state.initial[handle.names[0]] = four(x);
    this.state.initial[handle.names[1]] = four(y);
    handle.at = [x, y];
    this.run();
    this.knobsSoon();
  }

  private readonly knobsSoon = eachFrame(() => this.knobs());

  /** The motion, one at a time: what changes meanwhile is computed afterwards. */
  private run(): void {
    if (this.busy) { this.again = true; return; }
    void this.runNow();
  }

  private async runNow(): Promise<void> {
    this.busy = true;
    this.again = false;
    this.runs += 1;
    const begun = performance.now();
    const late = setTimeout(() => { byId("stop").hidden = false; this.say("computing …"); }, 300);
    const range = this.own?.range ?? null;
    const needs = range === null && this.state.t1 === null && !this.own?.ends;
    const samples = 1001;
    const answer = await this.engine.ask<Shown>(this.question("run", { samples, ...(needs ? { t1: 10 } : {}) }));
    clearTimeout(late);
    byId("stop").hidden = true;
    this.busy = false;
    if (this.again) return this.run();
    if (answer.error) return this.fault(answer.error);
    this.shown = answer;
    const took = performance.now() - begun;
    const { motion } = answer;
    this.say(`${motion.stop.reason === "end" ? "" : `stopped at t = ${brief(motion.stop.t)}: ${motion.stop.reason}. `}audit ${motion.audit.verdict}, ${took.toFixed(0)} ms`,
      motion.audit.verdict === "fail");
    document.body.dataset.runs = String(this.runs);
    document.body.dataset.took = took.toFixed(1);
    this.show();
  }

  private show(): void {
    const { shown } = this;
    if (!shown) return;
    if (shown.frames > 0) this.stage.show(shown.drawing, this.handles(shown));
    else this.stage.clear();
    byId("handles").textContent = this.handles(shown).length ? "Drag a ring to start there." : "";
    if (this.state.plots.length === 0) this.state.plots = [{ x: "t", y: this.firstColumns() }];
    this.drawPlots();
    this.audit(shown);
    this.table(shown);
  }

  private handles(shown: Shown): Handle[] {
    if (!this.outline || this.outline.ends) return [];
    return this.outline.handles
      .map((names) => ({ names, at: names.map((n) => shown.motion.q[n]?.[0] ?? NaN) as [number, number] }))
      .filter((h) => h.at.every(Number.isFinite));
  }

  private firstColumns(): string[] {
    const { outline, shown } = this;
    const observed = outline?.observed.filter((o) => !o.startsWith("plot_")) ?? [];
    const names = observed.length ? observed : outline?.coordinates ?? [];
    const there = names.filter((n) => shown?.columns.some((c) => c.name === n)).slice(0, 3);
    return there.length ? there : (shown?.columns.slice(1, 3).map((c) => c.name) ?? []);
  }

  private columns(): Columns | null {
    const { shown } = this;
    if (!shown) return null;
    const values = new Map(shown.columns.map((c) => [c.name, c.values]));
    for (const [k, e] of this.expressions().entries()) {
      const column = values.get(`plot_${k + 1}`);
      if (column) values.set(e, column);
    }
    return { name: `run ${this.kept.length + 1}`, t: shown.motion.t, values };
  }

  private keep(): void {
    const columns = this.columns();
    if (!columns) return;
    const changed = assignments({ ...this.state.set, ...this.state.initial });
    this.kept.push({ ...columns, name: changed || `run ${this.kept.length + 1}` });
    byId("drop").hidden = false;
    this.drawPlots();
  }

  private drawPlots(): void {
    const columns = this.columns();
    if (!columns) return;
    const parent = byId("plots");
    while (this.plots.length > this.state.plots.length) { this.plots.pop()?.close(); parent.lastElementChild?.remove(); }
    while (this.plots.length < this.state.plots.length) {
      const box = element("div", { class: "plot" });
      const k = this.plots.length;
      box.append(this.plotChoice(k));
      parent.append(box);
      const plot = new Plot(box);
      plot.clicked = (x, y) => this.startAt(k, x, y);
      this.plots.push(plot);
    }
    for (const [k, plot] of this.plots.entries()) {
      const { x, y } = this.state.plots[k]!;
      const fields = parent.children[k]!.querySelectorAll<HTMLInputElement>("input");
      if (fields[0] && document.activeElement !== fields[0]) fields[0].value = y.join(", ");
      if (fields[1] && document.activeElement !== fields[1]) fields[1].value = x;
      plot.draw([...this.kept, columns], x, y);
    }
    let list = document.getElementById("column-names");
    if (!list) { list = element("datalist", { id: "column-names" }); document.body.append(list); }
    const names = [...columns.values.keys()].filter((n) => !n.startsWith("plot_"));
    if (list.children.length !== names.length) list.replaceChildren(...names.map((n) => element("option", { value: n })));
  }

  /** The two fields above a plot: curves over axis. */
  private plotChoice(k: number): HTMLElement {
    const { x, y } = this.state.plots[k]!;
    const change = () => {
      const curves = fields[0]!.value.split(/,(?![^(]*\))/).map((s) => s.trim()).filter(Boolean);
      const plot = this.state.plots[k];
      if (!plot || curves.length === 0) return;
      plot.y = curves;
      plot.x = fields[1]!.value.trim() || "t";
      this.run();
    };
    const field = (label: string, value: string) =>
      element("input", { value, "aria-label": label, list: "column-names", change });
    const fields = [field("Curves: columns or expressions, with commas between them", y.join(", ")), field("Horizontal axis", x)];
    return element("p", { class: "choice" }, fields[0]!, element("span", {}, " over "), fields[1]!);
  }

  /** A click on a phase portrait of a position and its velocity, or of two positions, starts there. */
  private startAt(k: number, x: number, y: number): void {
    const plot = this.state.plots[k];
    const names = new Set(this.own?.coordinates.flatMap((c) => [c, `${c}'`]));
    if (!plot || plot.y.length !== 1 || !names.has(plot.x) || !names.has(plot.y[0]!)) return;
    this.keep();
    this.state.initial[plot.x] = Number(x.toPrecision(4));
    this.state.initial[plot.y[0]!] = Number(y.toPrecision(4));
    this.knobs();
    this.run();
  }

  private async equations(): Promise<void> {
    const form = this.state.form;
    for (const tab of byId("forms").querySelectorAll<HTMLButtonElement>("button")) {
      const on = tab.dataset.form === form;
      tab.setAttribute("aria-selected", String(on));
      tab.tabIndex = on ? 0 : -1;
    }
    const question = { ask: "equations", text: this.state.text, name: this.state.name || "model", principle: this.state.principle, form };
    const answer = await this.engine.ask<{ mathml: string; signs: string | null }>(question);
    if (form !== this.state.form) return;
    const panel = byId("formulas");
    if (answer.error) panel.replaceChildren(element("p", { class: "note" }, answer.error.message));
    else {
      // MathML of the engine: every name of the model is escaped there.
      panel.innerHTML = answer.mathml;
      if (answer.signs) panel.append(element("p", { class: "hint" }, `Signs: ${answer.signs}.`));
    }
  }

  private audit(shown: Shown): void {
    const { motion } = shown;
    const row = (name: string, value: string, limit: string, verdict: string, reason = "") =>
      element("tr", { title: reason }, element("th", { scope: "row" }, name), element("td", {}, value), element("td", {}, limit),
        element("td", {}, element("span", { class: `verdict ${verdict}` }, verdict)));
    const errors = Object.entries(motion.errors ?? {}).filter(([, e]) => e !== null);
    byId("audit").replaceChildren(
      element("p", {}, element("span", { class: `verdict ${motion.audit.verdict}` }, motion.audit.verdict),
        ` ${motion.principle ?? "as written"}, ${motion.method}, ${motion.statistics.steps ?? 0} steps`),
      element("table", {}, element("thead", {}, element("tr", {}, ...["check", "value", "limit", ""].map((h) => element("th", { scope: "col" }, h)))),
        element("tbody", {}, ...motion.audit.checks.map((c) => row(c.name, brief(c.value), brief(c.limit), c.verdict, c.reason)))),
      ...(errors.length ? [element("p", { class: "hint" }, `Estimated errors at the end: ${errors.slice(0, 8).map(([n, e]) => `${n} ${brief(e)}`).join(", ")}`)] : []),
      ...[...motion.notes, ...shown.notes].map((n) => element("p", { class: "note" }, n)),
      ...(motion.events.length ? [element("p", { class: "hint" }, `Events: ${motion.events.slice(0, 12).map((e) => `${e.name} at ${brief(e.t)}`).join(", ")}${motion.events.length > 12 ? ` and ${motion.events.length - 12} more` : ""}`)] : []));
  }

  private table(shown: Shown): void {
    const columns = shown.columns.filter((c) => !c.name.startsWith("plot_")).slice(0, 24);
    const rows = shown.motion.t.length;
    const step = Math.max(1, Math.ceil(rows / 100));
    const lines: HTMLElement[] = [];
    for (let i = 0; i < rows; i += step) lines.push(element("tr", {}, ...columns.map((c) => element("td", {}, brief(c.values[i])))));
    byId("table").replaceChildren(element("table", {}, element("thead", {}, element("tr", {}, ...columns.map((c) => element("th", { scope: "col" }, c.name)))),
      element("tbody", {}, ...lines)));
  }

  private async compare(): Promise<void> {
    const box = byId("compare");
    const answer = await this.engine.ask<{ motions: Shown[] }>(this.question("compare", { samples: 501 }));
    this.stages = [];
    const button = byId("compare-now");
    if (answer.error) return box.replaceChildren(button, element("p", { class: "note" }, answer.error.message));
    const parts = answer.motions.map((shown) => {
      const place = element("div");
      this.stages.push(new Stage(place, `Animation: ${shown.motion.principle}`, null));
      return element("div", {}, element("h3", {}, `${shown.motion.principle}: audit ${shown.motion.audit.verdict}`), place);
    });
    box.replaceChildren(button, element("div", { class: "pair" }, ...parts));
    answer.motions.forEach((shown, k) => { if (shown.frames) this.stages[k]!.show(shown.drawing, []); });
  }

  private async section(): Promise<void> {
    const on = byId<HTMLInputElement>("section-on").value.trim() || `rising ${this.own?.coordinates[0] ?? "t"}`;
    this.state.section = on;
    const answer = await this.engine.ask<{ section: { t: number[]; q: Record<string, number[]>; v: Record<string, number[]> } }>(
      this.question("section", { on, count: 400, t1: null }));
    if (answer.error) return this.fault(answer.error);
    const { t, q, v } = answer.section;
    const values = new Map<string, (number | null)[]>([...Object.entries(q), ...Object.entries(v).map(([n, x]) => [`${n}'`, x] as [string, number[]])]);
    const names = [...values.keys()].filter((n) => new Set(values.get(n)).size > 1);
    this.say(`${t.length} points where ${on}`);
    if (names.length) this.sectionPlot.draw([{ name: "section", t, values }], names[0]!, [names.find((n) => n.endsWith("'")) ?? names[1] ?? names[0]!]);
  }

  private async share(): Promise<void> {
    const address = `${location.origin === "null" ? location.href.split("#")[0]! : location.origin + location.pathname + location.search}#${await packed(this.state)}`;
    history.replaceState(null, "", address);
    try {
      await navigator.clipboard.writeText(address);
      this.say("the link is in the clipboard");
    } catch {
      this.say("the link is in the address line");
    }
  }

  private async export(kind: string): Promise<void> {
    byId<HTMLDetailsElement>("take").open = false;
    const answer = await this.engine.ask<{ name: string; media: string; content: string }>(
      this.question("export", { kind, form: this.state.form, samples: 1001, text: this.state.text }));
    if (answer.error) return this.fault(answer.error);
    save(answer.name, answer.content, answer.media);
    this.say(`${answer.name} saved`);
  }

  private async exportPlot(): Promise<void> {
    const picture = await this.plots[0]?.picture();
    if (picture) save(`${this.state.name || "plot"}.png`, picture, "image/png");
  }

  /** This page with the engine and the state inside, in one file. */
  private async exportBench(): Promise<void> {
    const state = await packed(this.state);
    let page = await this.ownPage();
    if (!page) return this.say("the engine of this page is a program on this machine: a page that works alone is saved from the site", true);
    page = page.replace(/<script id="pfaff-state"[^>]*>[^<]*<\/script>/, "").replace("</body>", `<script id="pfaff-state" type="text/plain">${state}</script></body>`);
    save(`${this.state.name || "workbench"}.html`, page, "text/html");
  }

  /** The files of the static site put together. */
  private async ownPage(): Promise<string | null> {
    if (document.getElementById("pfaff-module")) return `<!doctype html>\n${(window as unknown as { pfaffPage: string }).pfaffPage}`;
    try {
      const [html, style, script, worker] = await Promise.all(
        ["index.html", "workbench.css", "workbench.js", "worker.js"].map(async (f) => (await fetch(f)).text()));
      const bytes = new Uint8Array(await (await fetch("pfaff.wasm.gz")).arrayBuffer());
      let text = "";
      for (let k = 0; k < bytes.length; k += 32768) text += String.fromCharCode(...bytes.subarray(k, k + 32768));
      return oneFile(html!, style!, script!, worker!, btoa(text));
    } catch {
      return null;
    }
  }

  private say(text: string, bad = false): void {
    const status = byId("status");
    status.textContent = text;
    status.classList.toggle("bad", bad);
  }

  private fault(fault: Fault): void {
    this.say(fault.message, true);
    if (fault.diagnostics.length) this.mistakes(fault.diagnostics);
  }
}

/** Everything inside one page. */
function oneFile(html: string, style: string, script: string, worker: string, module: string): string {
  const safe = (text: string) => text.replaceAll("</script", "<\\/script");
  return html
    .replace(/<!-- style -->[^]*<!-- end of style -->/, () => `<style>${style}</style>`)
    .replace(/<!-- script -->[^]*<!-- end of script -->/, () =>
      `<script id="pfaff-worker" type="text/plain">${safe(worker)}</script>\n` +
      `<script id="pfaff-module" type="text/plain">${module}</script>\n<script>${safe(script)}</script>`);
}

(window as unknown as { pfaffPage: string }).pfaffPage = document.documentElement.outerHTML;
void engine()
  .then((made) => new Workbench(made).begin())
  .catch((error: unknown) => {
    const status = document.getElementById("status");
    if (status) { status.textContent = `The engine does not start: ${String(error)}`; status.classList.add("bad"); }
  });
