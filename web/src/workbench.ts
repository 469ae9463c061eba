// The workbench: one state, and views that follow it.

import { asked, assignments, packed, start, unpacked, type Asked, type State } from "./state";
import { byId, brief, element, save } from "./dom";
import { Editor, type Words } from "./editor";
import {
  GIVEN_UP, opened, type Answer, type Engine, type Fault, type Handle, type Lane, type Outline, type Question, type Reading, type Shown,
} from "./engine";
import { lessonBox, LESSONS } from "./lessons";
import { COLOURS, overlaid } from "./overlay";
import { Plot, type Columns } from "./plots";
import { saveFrom, wholePage } from "./saving";
import { sliders, type Knob } from "./sliders";
import { Stage } from "./stage";
import { TUTORIAL } from "./tutorial";
import * as views from "./views";

const FORMS: [string, string][] = [
  ["multipliers", "Multipliers"], ["full", "Written out"], ["reduced", "Reduced"], ["hamilton", "Hamilton"], ["kane", "Kane"],
  ["gibbs_appell", "Gibbs–Appell"], ["boltzmann_hamel", "Boltzmann–Hamel"], ["voronets", "Voronets"], ["routhian", "Routh"],
  ["geometry", "Geometry"],
];
/** Files of the whole model: kind and words. */
const EXPORTS: [string, string][] = [
  ["report", "Report page (HTML)"], ["csv", "Table (CSV)"], ["parquet", "Table (Parquet)"], ["latex", "Equations (LaTeX)"],
  ["c", "Code in C"], ["python", "Code in Python"], ["rust", "Code in Rust"],
];
/** Files of each view. */
const VIEW_FILES: Record<string, [string, string][]> = {
  animation: [["frame", "Picture (PNG)"], ["drawing", "Picture (SVG)"]],
  plots: [["svg", "First plot (SVG)"], ["png", "First plot (PNG)"], ["pdf", "First plot (PDF)"]],
  equations: [["latex", "LaTeX"]],
  audit: [["json", "Everything (JSON)"]],
  compare: [["comparison", "Picture (PNG)"]],
  section: [["points", "Points (CSV)"], ["section", "Picture (PNG)"]],
  table: [["csv", "CSV"], ["parquet", "Parquet"], ["json", "JSON"]],
};
/** Rows of a motion in the page. */
const SAMPLES = 501;
/** Rows while a hand moves something. */
const DRAFT = 201;
/** How long a hand must rest, in milliseconds, until its motion is computed with all rows and audited. */
const REST = 160;
/** Letters of a name that a kept run gets by itself. */
const LONGEST_NAME = 32;
/** How often the other initial values are led after the one that a hand holds. */
const ROUNDS = 6;
/** And how much farther than the nearest place they go at once. */
const FARTHEST = 10;
/** A motion that takes longer than this, in milliseconds, is given up as soon as something changes. */
const GRACE = 400;

/** The columns of a motion under a name. */
function columnsOf(shown: Shown, name: string): Columns {
  const values = new Map(shown.columns.map((c) => [c.name, c.values]));
  return { name, t: (values.get("t") ?? []) as number[], values };
}

export class Workbench {
  private state: State = start("", "");
  /** What the text says, before any slider was moved. */
  private own: Outline | null = null;
  private shown: Shown | null = null;
  private kept: Columns[] = [];
  private plots: Plot[] = [];
  private points: { x: string; y: string; values: Map<string, number[]> } | null = null;
  private readonly sectionPlot = new Plot(byId("section-plot"));
  private readonly comparison = new Stage(byId("compare"), "Animation of several principles", null);
  private readonly stage = new Stage(byId("animation"), "Animation of the motion", (h, kind, x, y) => this.drag(h, kind, x, y));
  private readonly editor: Editor;
  private readonly models = new Map<string, { title: string; text: string }>();
  private runs = 0;
  private begun = 0;
  private busy = false;
  private reading = false;
  private unread = false;
  private again = false;
  /** Set while a hand moves something: motions are drafts until it rests. */
  private moving: ReturnType<typeof setTimeout> | null = null;
  /** Initial values that the hand has just set. */
  private dragged: string[] = [];
  /** What the hand holds: initial values that stay as they are while the others follow the constraints. */
  private held: { values: Record<string, number>; rounds: number } | null = null;
  private hand: { handle: Handle; kind: "place" | "velocity"; x: number; y: number } | null = null;

  constructor(private readonly engine: Engine) {
    this.editor = new Editor(byId("editor"), "", (text) => this.typed(text));
    this.editor.formula = async (of) => (await engine.ask<{ html: string | null }>({ ...this.question("formula"), of }, "study")).html ?? null;
    byId("home").textContent = engine.home;
  }

  async begin(options: URLSearchParams): Promise<void> {
    this.choices([]);
    this.listen();
    // What the page begins with is in the page or in its address, but for models of the gallery: the first motion
    // does not wait for a list that nobody has asked for.
    const named = options.get("model");
    const waits = named !== null && !this.models.has(named);
    if (waits) await this.lists();
    await this.first(options);
    await this.read();
    if (!waits) await this.lists();
    await this.recall();
  }

  /** The models of the gallery, and the words of the language. */
  private async lists(): Promise<void> {
    const [list, words] = await Promise.all([
      this.engine.ask<{ pfaff: string; models: { name: string; title: string; text: string }[] }>({ ask: "gallery" }),
      this.engine.ask<Words>({ ask: "words" }),
    ]);
    // NOTE: where a motion that takes long was given up, what waited behind it was too.
    if (list.error?.message === GIVEN_UP || words.error?.message === GIVEN_UP) return this.lists();
    if (list.error) throw new Error(list.error.message);
    this.editor.know(words);
    this.choices(list.models);
    this.choose(this.state.name, this.state.text);
    this.lesson();
  }

  /** The list of models: first steps, lessons, gallery. */
  private choices(list: { name: string; title: string; text: string }[]): void {
    for (const step of TUTORIAL) this.models.set(step.name, step);
    for (const model of list) this.models.set(model.name, model);
    const group = (label: string, names: string[], words: (name: string) => string) =>
      element("optgroup", { label }, ...names.map((name) => element("option", { value: name }, words(name))));
    const title = (name: string) => this.models.get(name)?.title ?? name;
    byId("gallery").replaceChildren(
      element("option", { value: "" }, "your own text"),
      group("First steps", TUTORIAL.map((s) => s.name), title),
      group("Lessons", Object.keys(LESSONS).filter((n) => this.models.has(n)), (n) => LESSONS[n]!.title),
      group("Gallery", list.map((m) => m.name), (n) => `${n}: ${title(n)}`));
  }

  /** What the page begins with: a saved state, the model of the command line, a named model, or the first step. */
  private async first(options: URLSearchParams): Promise<void> {
    const given = document.getElementById("pfaff-state")?.textContent;
    const shared = (given && (await unpacked(given.trim()))) || (location.hash.length > 1 && (await unpacked(location.hash.slice(1))));
    const opened = document.getElementById("pfaff-model")?.textContent;
    const named = options.get("model");
    if (shared) {
      this.state = shared;
      this.choose(shared.name, shared.text);
      this.editor.text = shared.text;
      byId<HTMLSelectElement>("principle").value = shared.principle;
      byId<HTMLInputElement>("t1").value = shared.t1 === null ? "" : String(shared.t1);
      byId<HTMLInputElement>("section-on").value = shared.section;
      const closed = [...shared.closed];
      for (const view of document.querySelectorAll<HTMLElement>(".view")) this.fold(view, closed.includes(view.dataset.view!));
    } else if (opened && !named) {
      const { name, text } = JSON.parse(opened) as { name: string; text: string };
      this.state = start(text, name);
      this.choose(name, text);
      this.editor.text = text;
    } else this.open(named && this.models.has(named) ? named : TUTORIAL[0]!.name);
    this.lesson();
    this.editor.foldNotes();
  }

  /** Shows in the list which model the text is. */
  private choose(name: string, text: string): void {
    byId<HTMLSelectElement>("gallery").value = this.models.get(name)?.text === text ? name : "";
  }

  private listen(): void {
    const chooser = byId<HTMLSelectElement>("gallery");
    chooser.addEventListener("change", () => { this.open(chooser.value); void this.read(); });
    byId<HTMLSelectElement>("principle").addEventListener("change", (e) => {
      this.state.principle = (e.target as HTMLSelectElement).value;
      void this.read();
    });
    byId<HTMLInputElement>("t1").addEventListener("input", (e) => {
      const { value } = e.target as HTMLInputElement;
      this.state.t1 = value.trim() === "" || !Number.isFinite(Number(value)) ? null : Number(value);
      this.run();
    });
    byId("tidy").addEventListener("click", () => void this.tidy());
    byId("stop").addEventListener("click", () => { this.again = false; this.engine.cancel("motion"); this.engine.cancel("study"); });
    byId("share").addEventListener("click", () => void this.share());
    byId("more").addEventListener("click", () => this.addPlot({ x: "t", y: this.firstColumns() }));
    byId("portrait").addEventListener("click", () => {
      const spread = (name: string) => {
        const values = this.shown?.columns.find((c) => c.name === name)?.values.filter((v) => v !== null) ?? [];
        return Math.max(...values) - Math.min(...values);
      };
      const [first, ...rest] = this.own?.coordinates ?? [];
      const q = rest.reduce((best, c) => (spread(`${c}'`) > spread(`${best}'`) ? c : best), first ?? "t");
      this.addPlot({ x: q, y: [`${q}'`] });
    });
    byId("keep").addEventListener("click", () => this.keep());
    byId("compare-now").addEventListener("click", () => void this.compare());
    byId("section-now").addEventListener("click", () => void this.section());
    byId("again").addEventListener("click", () => void this.interpret());
    const whole = element("button", { type: "button", click: () => void this.exportBench() }, "This workbench (one file)");
    byId("exports").append(...this.files(EXPORTS), ...(this.engine.portable ? [whole] : []));
    this.listenForms();
    for (const view of document.querySelectorAll<HTMLElement>(".view")) this.listenView(view);
    document.addEventListener("click", (event) => {
      for (const menu of document.querySelectorAll<HTMLDetailsElement>("details.dropdown[open]")) {
        if (!menu.contains(event.target as Node)) menu.open = false;
      }
    });
    document.addEventListener("keydown", (event) => {
      if (event.key !== "Escape") return;
      for (const menu of document.querySelectorAll<HTMLDetailsElement>("details.dropdown[open]")) {
        menu.open = false;
        menu.querySelector("summary")?.focus();
      }
    });
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => { this.drawPlots(); this.drawSection(); });
  }

  private files(list: [string, string][]): HTMLElement[] {
    return list.map(([kind, label]) => element("button", { type: "button", click: () => void this.export(kind) }, label));
  }

  private listenForms(): void {
    const tabs = byId("forms");
    tabs.append(...FORMS.map(([form, label]) => element("button", {
      type: "button", role: "tab", "data-form": form, "aria-controls": "formulas",
      click: () => { this.state.form = form; void this.equations(); },
    }, label)));
    tabs.addEventListener("keydown", (event) => {
      const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      const buttons = [...tabs.querySelectorAll("button")];
      const at = buttons.indexOf(document.activeElement as HTMLButtonElement);
      if (!step || at < 0) return;
      const next = buttons[(at + step + buttons.length) % buttons.length]!;
      next.focus();
      next.click();
    });
  }

  private listenView(view: HTMLElement): void {
    const name = view.dataset.view!;
    const title = view.querySelector("h2")!.textContent!.trim();
    const small = { type: "button", class: "fold" };
    const fold = element("button", { ...small, "data-fold": name, click: () => this.fold(view, !view.classList.contains("closed")) });
    const large = element("button", { ...small, "aria-pressed": "false", title: "Enlarge", "aria-label": `Enlarge: ${title}` }, "⤢");
    large.addEventListener("click", () => {
      const on = view.classList.toggle("large");
      large.setAttribute("aria-pressed", String(on));
      if (on) this.fold(view, false);
    });
    const menu = element("details", { class: "dropdown" },
      element("summary", { class: "fold", title: "Save", "aria-label": `Save: ${title}` }, "↓"),
      element("div", { class: "menu" }, ...this.files(VIEW_FILES[name] ?? [])));
    view.querySelector("h2")!.append(element("span", { class: "tools" }, menu, large, fold));
    this.fold(view, ["compare", "section", "table"].includes(name));
  }

  private fold(view: HTMLElement, closed: boolean): void {
    const button = view.querySelector<HTMLElement>("[data-fold]");
    view.classList.toggle("closed", closed);
    const title = view.querySelector("h2")!.firstChild!.textContent!.trim();
    button?.setAttribute("aria-expanded", String(!closed));
    button?.setAttribute("aria-label", `${closed ? "Open" : "Close"}: ${title}`);
    if (button) { button.textContent = closed ? "+" : "–"; button.title = closed ? "Open" : "Close"; }
    this.state.closed = [...document.querySelectorAll<HTMLElement>(".view.closed")].map((v) => v.dataset.view!);
    if (!closed && this.shown) this.show(document.body.classList.contains("draft"));
  }

  private isOpen(name: string): boolean {
    return !document.querySelector(`.view[data-view=${name}]`)?.classList.contains("closed");
  }

  /** A model of the list in its first state. */
  private open(name: string): void {
    const model = this.models.get(name);
    if (!model) return;
    this.state = { ...start(model.text, name), form: this.state.form, closed: this.state.closed };
    this.forgetKept();
    byId<HTMLSelectElement>("principle").value = "";
    byId<HTMLInputElement>("t1").value = "";
    byId<HTMLInputElement>("section-on").value = "";
    byId("compare-keys").replaceChildren();
    byId("compare").replaceChildren();
    this.points = null;
    this.drawSection();
    this.own = null;
    this.held = null;
    this.editor.text = model.text;
    this.editor.foldNotes();
    this.choose(name, model.text);
    this.lesson();
  }

  private lesson(): void {
    byId("lesson").replaceChildren(...lessonBox(this.state.name));
  }

  private typed(text: string): void {
    if (text === this.state.text) return;
    this.state.text = text;
    this.choose(this.state.name, text);
    // A new text has values of its own.
    this.own = null;
    this.held = null;
    this.hurry();
    void this.readSoon();
  }

  /** Reads the text, once more if it changes meanwhile. */
  private async readSoon(): Promise<void> {
    this.unread = true;
    if (this.reading) return;
    this.reading = true;
    try {
      while (this.unread) {
        this.unread = false;
        await this.read();
      }
    } finally {
      this.reading = false;
    }
  }

  private question(ask: string, more: Record<string, unknown> = {}, s: Asked = this.state): Question {
    const needs = this.own?.range === null && s.t1 === null && !this.own.ends;
    return {
      ask, text: s.text, name: s.name || "model", set: assignments(s.set), initial: assignments(s.initial),
      principle: s.principle, t1: needs ? 10 : s.t1, tolerance: s.tolerance, ...more,
    };
  }

  /** What is plotted and is no column by itself. */
  private expressions(): string[] {
    const all = this.state.plots.flatMap((p) => [p.x, ...p.y]);
    const names = new Set(this.shown?.columns.map((c) => c.name) ?? []);
    return [...new Set(all)].filter((e) => e !== "t" && (!names.has(e) || /[-+*/^(]/.test(e)) && !/^(lambda|mu|reaction)\([^()]*\)'?$/.test(e));
  }

  /** Reads the text: colours, mistakes, sliders; then the motion and the equations. */
  private async read(): Promise<void> {
    const text = this.state.text;
    const reading = await this.engine.ask<Reading>({ ask: "read", text, name: this.state.name || "model" });
    if (text !== this.state.text) return;
    if (reading.error?.message === GIVEN_UP) return void this.readSoon();
    if (reading.error) return this.fault(reading.error);
    this.editor.show(reading);
    this.mistakes(reading.diagnostics);
    document.body.classList.toggle("stale", !reading.model);
    if (!reading.model) return this.say("A mistake in the text: last motion shown", true);
    this.own = reading.model;
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
      ` ${d.message}`, ...(d.hint ? [element("em", {}, `${d.hint.charAt(0).toUpperCase()}${d.hint.slice(1)}`)] : []))));
  }

  private knobs(): void {
    const { own, state } = this;
    if (!own) return;
    const parameters = own.parameters.filter((p) => !p.derived);
    sliders(byId("parameters"), "Parameters",
      parameters.map((p) => ({
        name: p.name, own: p.value, value: state.set[p.name] ?? p.value, whole: p.structural && Number.isInteger(p.value),
      })),
      (name, value) => this.turn(state.set, name, value));
    sliders(byId("initial"), "Start", this.starts(), (name, value) => this.turn(state.initial, name, value));
  }

  /** Initial values of the text; in small models also what the engine found for the others. */
  private starts(): Knob[] {
    const { own, state } = this;
    if (!own) return [];
    const knobs = new Map<string, Knob>();
    for (const { name, value } of own.initial) knobs.set(name, { name, own: value, value: state.initial[name] ?? value });
    const others = own.coordinates.length <= 6 && !own.ends ? own.coordinates.flatMap((c) => [c, `${c}'`]) : Object.keys(state.initial);
    for (const name of others) {
      if (knobs.has(name)) continue;
      const found = this.firstValue(name) ?? 0;
      const value = state.initial[name];
      knobs.set(name, value === undefined
        ? { name, own: found, value: found, found: "Not in the text: this is the value that the motion has" }
        : { name, own: NaN, value });
    }
    return [...knobs.values()];
  }

  private firstValue(name: string): number | null {
    return this.shown?.columns.find((c) => c.name === name)?.values[0] ?? null;
  }

  private turn(values: Record<string, number>, name: string, value: number | null): void {
    if (value === null) delete values[name]; else values[name] = value;
    this.held = values === this.state.initial && value !== null ? { values: { [name]: value }, rounds: 0 } : null;
    this.draft();
  }

  /** A motion for the eye now, and one with its audit when the hand rests. */
  private draft(): void {
    if (this.moving) clearTimeout(this.moving);
    this.moving = setTimeout(() => { this.moving = null; this.run(); }, REST);
    this.run();
  }

  /** Where the hand is; the engine finds the start that belongs to it, as fast as it can. */
  private drag(handle: Handle, kind: "place" | "velocity", x: number, y: number): void {
    this.hand = { handle, kind, x, y };
    this.held = null;
    this.draft();
  }

  private async followHand(): Promise<void> {
    const { hand, own } = this;
    this.hand = null;
    if (!hand || !own) return;
    const values = (names: string[]) => names.map((n) => this.firstValue(n) ?? 0);
    const question = this.question("drag", { point: hand.handle.point, x: hand.x, y: hand.y, q: values(own.coordinates) });
    if (hand.kind === "velocity") question.v = values(own.coordinates.map((c) => `${c}'`));
    const answer = await this.engine.ask<{ initial: Record<string, number> }>(question);
    if (answer.error) return this.fault(answer.error);
    this.dragged = Object.keys(answer.initial);
    for (const [name, value] of Object.entries(answer.initial)) this.state.initial[name] = Number(value.toPrecision(6));
  }

  private async motion(question: Question, lane: Lane = "motion"): Promise<Answer<Shown>> {
    const answer = await this.engine.ask<Shown>({ ...question, packed: true }, lane);
    if (!answer.error) opened(answer);
    return answer;
  }

  /** The motion, one at a time: what changes meanwhile is computed afterwards. */
  private run(): void {
    if (this.busy) { this.again = true; this.hurry(); return; }
    void this.runNow();
  }

  /** Gives up a motion that takes long, now that it is no longer wanted. */
  private hurry(): void {
    if (!this.busy) return;
    const run = this.runs;
    const wait = Math.max(0, GRACE - (performance.now() - this.begun));
    setTimeout(() => { if (this.busy && this.runs === run) this.engine.cancel("motion"); }, wait);
  }

  private async runNow(): Promise<void> {
    this.busy = true;
    this.again = false;
    this.runs += 1;
    this.begun = performance.now();
    const late = setTimeout(() => { byId("stop").hidden = false; this.say("Computing …"); }, GRACE);
    const dragged = this.hand !== null;
    if (dragged) await this.followHand();
    const held = this.held !== null;
    const draft = this.moving !== null || held || !this.shown;
    const more = { samples: draft ? DRAFT : SAMPLES, expressions: this.expressions(), draft };
    const answer = await this.motion(this.question("run", more));
    clearTimeout(late);
    byId("stop").hidden = true;
    this.busy = false;
    if (answer.error && answer.error.message !== GIVEN_UP) this.fault(answer.error);
    else if (answer.error) this.say("Stopped.");
    else if (this.follows(answer)) this.again = true;
    else this.arrived(answer, dragged || held, draft);
    // The first motion of a page is a draft, too.
    const audited = !draft || this.moving !== null || answer.error;
    if (this.again || this.hand || !audited) this.run();
  }

  /**
   * Values that contradict the constraints were moved to the nearest ones. Where a hand holds some of them, the others
   * go along and these stay: from there it is tried again. Whether that is to be.
   */
  private follows(answer: Shown): boolean {
    const { held } = this;
    if (!held) return false;
    const moves = answer.motion.notes.flatMap((note) => {
      const [, name, from, to] = /^initial (\S+) moved from (\S+) to ([^\s:]+)/.exec(note) ?? [];
      return name ? [{ name, to: Number(to), by: Number(to) - Number(from) }] : [];
    });
    const moved = moves.map((m) => m.name);
    const others = moves.filter((m) => !(m.name in held.values));
    this.dragged = [...new Set([...Object.keys(held.values), ...moved])];
    if (!moved.length || !others.length || held.rounds >= ROUNDS) { this.held = null; return false; }
    held.rounds += 1;
    // The others go as far as makes up for what is held: all the way where one linear constraint moved them.
    for (const { name, to, by } of others) {
      const isVelocity = name.endsWith("'");
      const size = (list: typeof moves) => list.reduce((sum, m) => (m.name.endsWith("'") === isVelocity ? sum + m.by * m.by : sum), 0);
      const more = Math.min(size(moves) / size(others), FARTHEST) - 1;
      this.state.initial[name] = to + (Number.isFinite(more) ? more * by : 0);
    }
    Object.assign(this.state.initial, held.values);
    return true;
  }

  /** A hand that pulls a point off its constraints means the nearest place on them: that is where it starts. */
  private settle(answer: Shown): void {
    const moved = answer.motion.notes.map((note) => /^initial (\S+) moved from /.exec(note)?.[1]);
    if (!moved.some((name) => name && this.dragged.includes(name))) return;
    for (const name of this.dragged) this.state.initial[name] = this.firstValue(name) ?? this.state.initial[name] ?? 0;
    answer.motion.notes = answer.motion.notes.filter((_, k) => !moved[k] || !this.dragged.includes(moved[k]));
  }

  private arrived(answer: Shown, dragged: boolean, draft: boolean): void {
    this.shown = answer;
    if (dragged) this.settle(answer);
    const took = performance.now() - this.begun;
    const { motion } = answer;
    const early = motion.stop.reason === "end" ? "" : `Stopped at t = ${brief(motion.stop.t)} (${motion.stop.reason.replaceAll("_", " ")}). `;
    const verdict = draft ? "Audit follows" : `Audit ${motion.audit.verdict}, ${took.toFixed(0)} ms`;
    this.say(`${early}${verdict}`, motion.audit.verdict === "fail");
    document.body.classList.remove("stale");
    document.body.classList.toggle("draft", draft);
    this.show(draft);
    // What the constraints gave is shown by the sliders that the text does not set.
    this.knobs();
    const { dataset } = document.body;
    dataset[draft ? "drafts" : "runs"] = String(this.runs);
    dataset[draft ? "drafted" : "took"] = took.toFixed(1);
    dataset.first ??= performance.now().toFixed(0);
  }

  private show(draft = false): void {
    const { shown } = this;
    if (!shown) return;
    const handles = shown.handles ?? [];
    if (shown.frames > 0) this.stage.show(shown.drawing, handles);
    else this.stage.clear();
    // The view of a link is that of its first drawing; from then on it is in the reader's hand.
    this.stage.camera = this.state.camera;
    this.state.camera = null;
    byId("handles").textContent = handles.length ? "Drag a ring to start elsewhere, the tip of an arrow to change the velocity there."
      : shown.drawing.dimension === 3 ? "Drag to turn the picture; + and − change its size." : "";
    if (this.state.plots.length === 0) this.state.plots = [{ x: "t", y: this.firstColumns() }];
    if (this.isOpen("plots")) this.drawPlots();
    if (draft) return;
    if (this.isOpen("audit")) views.audit(byId("audit"), shown);
    if (this.isOpen("table")) views.table(byId("table"), shown);
    byId("agreement").textContent = "";
  }

  private firstColumns(): string[] {
    const { own, shown } = this;
    const moves = (name: string) => {
      const values = shown?.columns.find((c) => c.name === name)?.values ?? [];
      return values.some((v) => v !== null && v !== values[0]);
    };
    const observed = own?.observed.filter((o) => !o.startsWith("error") && moves(o)) ?? [];
    const there = observed.length ? observed : own?.coordinates.filter(moves) ?? [];
    return there.length ? there.slice(0, 3) : (shown?.columns.slice(1, 3).map((c) => c.name) ?? []);
  }

  private columns(): Columns | null {
    return this.shown && columnsOf(this.shown, "now");
  }

  private keep(): void {
    const columns = this.columns();
    if (!columns) return;
    const changed = Object.entries({ ...this.state.set, ...this.state.initial }).map(([name, x]) => `${name} = ${brief(Number(x.toPrecision(3)))}`).join(", ");
    const name = changed && changed.length <= LONGEST_NAME ? changed : `run ${this.kept.length + 1}`;
    this.kept.push({ ...columns, name, asked: asked(this.state) });
    this.drawPlots();
    this.drawKept();
  }

  /** The kept runs of a link, once more. */
  private async recall(): Promise<void> {
    const { kept } = this.state;
    for (const run of kept) {
      const whole = { ...run, text: run.text || this.state.text };
      const more = { samples: SAMPLES, expressions: this.expressions() };
      const answer = await this.motion(this.question("run", more, whole));
      if (!answer.error) this.kept.push({ ...columnsOf(answer, run.name), asked: whole });
    }
    if (!kept.length) return;
    this.drawKept();
    this.drawPlots();
  }

  /** Everything that a link carries, as it is now. */
  private current(): State {
    const kept = this.kept.flatMap(({ name, asked }) =>
      (asked ? [{ ...asked, name, text: asked.text === this.state.text ? "" : asked.text }] : []));
    return { ...this.state, kept, camera: this.stage.camera };
  }

  private forgetKept(): void {
    this.kept = [];
    this.drawKept();
  }

  /** The kept runs with their names. */
  private drawKept(): void {
    byId("kept").replaceChildren(...this.kept.map((run, k) => element("span", { class: "chip" },
      element("input", {
        value: run.name, "aria-label": `Name of kept run ${k + 1}`,
        change: (e) => { run.name = (e.target as HTMLInputElement).value.trim() || `run ${k + 1}`; this.drawPlots(); },
      }),
      element("button", {
        type: "button", "aria-label": `Forget ${run.name}`, title: "Forget",
        click: () => { this.kept.splice(k, 1); this.drawKept(); this.drawPlots(); },
      }, "×"))));
  }

  private addPlot(plot: { x: string; y: string[] }): void {
    this.state.plots.push(plot);
    this.drawPlots();
    this.run();
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
    const faults = this.shown?.faults ?? [];
    for (const [k, plot] of this.plots.entries()) {
      const { x, y } = this.state.plots[k]!;
      const box = parent.children[k]!;
      const fields = box.querySelectorAll<HTMLInputElement>("input");
      if (fields[0] && document.activeElement !== fields[0]) fields[0].value = y.join(", ");
      if (fields[1] && document.activeElement !== fields[1]) fields[1].value = x;
      box.querySelector(".note")!.textContent = faults.filter((f) => [x, ...y].some((e) => f.includes(`\`${e}\``))).join(" ");
      box.querySelector(".hint")!.textContent = this.isPortrait(k) ? "Click in the picture to start there." : "";
      plot.draw([...this.kept, columns], x, y);
    }
    let list = document.getElementById("column-names");
    if (!list) { list = element("datalist", { id: "column-names" }); document.body.append(list); }
    const names = [...columns.values.keys()];
    if (list.children.length !== names.length) list.replaceChildren(...names.map((n) => element("option", { value: n })));
  }

  /** The two fields above a plot: curves over axis. */
  private plotChoice(k: number): HTMLElement {
    const { x, y } = this.state.plots[k]!;
    const change = () => {
      const curves = fields[0]!.value.split(/,(?![^([]*[)\]])/).map((s) => s.trim()).filter(Boolean);
      const plot = this.state.plots[k];
      if (!plot || curves.length === 0) return;
      plot.y = curves;
      plot.x = fields[1]!.value.trim() || "t";
      this.run();
    };
    const field = (label: string, value: string) =>
      element("input", { value, "aria-label": label, title: label, list: "column-names", change });
    const fields = [field("Curves: columns or expressions such as x^2 + y^2, with commas between them", y.join(", ")), field("Horizontal axis", x)];
    const close = element("button", {
      type: "button", class: "fold", title: "Take this plot away", "aria-label": `Take plot ${k + 1} away`,
      click: () => {
        if (this.state.plots.length < 2) return;
        this.state.plots.splice(k, 1);
        for (const plot of this.plots) plot.close();
        this.plots = [];
        byId("plots").replaceChildren();
        this.drawPlots();
      },
    }, "×");
    return element("div", {}, element("p", { class: "choice" }, fields[0]!, element("span", {}, " over "), fields[1]!, close),
      element("p", { class: "note" }), element("p", { class: "hint" }));
  }

  /** Whether a plot is a phase portrait: of a position and its velocity, or of two positions. */
  private isPortrait(k: number): boolean {
    const plot = this.state.plots[k];
    const names = new Set(this.own?.coordinates.flatMap((c) => [c, `${c}'`]));
    return plot !== undefined && !this.own?.ends && plot.y.length === 1 && names.has(plot.x) && names.has(plot.y[0]!);
  }

  /** A click on a phase portrait starts there. */
  private startAt(k: number, x: number, y: number): void {
    const plot = this.state.plots[k];
    if (!plot || !this.isPortrait(k)) return;
    this.keep();
    const values = { [plot.x]: Number(x.toPrecision(4)), [plot.y[0]!]: Number(y.toPrecision(4)) };
    Object.assign(this.state.initial, values);
    this.held = { values, rounds: 0 };
    this.knobs();
    this.run();
  }

  private async equations(): Promise<void> {
    const { form, text, principle } = this.state;
    for (const tab of byId("forms").querySelectorAll<HTMLButtonElement>("button")) {
      const on = tab.dataset.form === form;
      tab.setAttribute("aria-selected", String(on));
      tab.tabIndex = on ? 0 : -1;
    }
    const panel = byId("formulas");
    const begun = performance.now();
    const isNow = () => form === this.state.form && text === this.state.text && principle === this.state.principle;
    const late = setTimeout(() => { if (isNow()) panel.replaceChildren(element("p", { class: "hint" }, "Deriving …")); }, GRACE);
    this.engine.cancel("study");
    const question = { ask: "equations", text, name: this.state.name || "model", principle, form };
    const shown = async (quick: boolean): Promise<boolean> => {
      const answer = await this.engine.ask<{ html: string; signs: string | null; partial: boolean }>({ ...question, quick }, "study");
      clearTimeout(late);
      if (!isNow() || answer.error?.message === GIVEN_UP) return false;
      if (answer.error) panel.replaceChildren(element("p", { class: "hint" }, answer.error.message));
      else views.formulas(panel, answer.html, answer.signs, form);
      panel.dataset.form = form;
      panel.dataset.took = (performance.now() - begun).toFixed(1);
      return quick && answer.partial;
    };
    // Long equations come first without what takes longest to find.
    if (await shown(true)) await shown(false);
    if (!isNow()) return;
    if ((this.own?.coordinates.length ?? 0) > 60) return void (byId("facts").textContent = "");
    const told = await this.engine.ask<{ check: views.Facts }>({ ask: "check", text, name: this.state.name || "model" }, "study");
    if (isNow() && !told.error) byId("facts").textContent = views.facts(told.check);
  }

  private async tidy(): Promise<void> {
    const answer = await this.engine.ask<{ text: string }>({ ask: "format", text: this.state.text });
    if (answer.error) return this.fault(answer.error);
    if (answer.text !== this.state.text) this.editor.text = answer.text;
    this.say("The text is in order.");
  }

  /** The same motion by the interpreter, and how far the generated code is from it. */
  private async interpret(): Promise<void> {
    const box = byId("agreement");
    box.textContent = "Computing …";
    const { shown } = this;
    const answer = await this.motion(this.question("run", { samples: SAMPLES, backend: "interpreter" }), "study");
    if (answer.error) return void (box.textContent = answer.error.message);
    let most = 0, where = "";
    for (const column of answer.columns) {
      const other = shown?.columns.find((c) => c.name === column.name)?.values ?? [];
      const size = Math.max(1, ...column.values.map((v) => Math.abs(v ?? 0)));
      column.values.forEach((v, i) => {
        const off = v === other[i] ? 0 : Math.abs((v ?? NaN) - (other[i] ?? NaN)) / size;
        if (!(off <= most)) { most = off; where = column.name; }
      });
    }
    box.textContent = most === 0 ? "The same to the last bit." : `Largest relative difference ${brief(most)}, in ${where}.`;
    box.dataset.most = String(most);
  }

  private async compare(): Promise<void> {
    const keys = byId("compare-keys");
    keys.textContent = "Computing …";
    const answer = await this.engine.ask<{ motions: Shown[] }>(this.question("compare", { samples: SAMPLES, packed: true }), "study");
    if (answer.error) return keys.replaceChildren(element("span", { class: "note" }, answer.error.message));
    const motions = answer.motions.map(opened).filter((m) => m.frames > 0);
    const drawing = overlaid(motions.map((m) => m.drawing));
    if (!drawing) return keys.replaceChildren("Nothing to draw.");
    keys.replaceChildren(...motions.map((m, k) => element("span", { class: `key ${COLOURS[k % COLOURS.length]}` },
      `${m.motion.principle}: audit ${m.motion.audit.verdict}`)));
    this.comparison.show(drawing, []);
  }

  private async section(): Promise<void> {
    const field = byId<HTMLInputElement>("section-on");
    const q = this.own?.coordinates[0] ?? "t";
    if (!field.value.trim()) field.value = `rising ${q}`;
    const on = field.value.trim();
    this.state.section = on;
    byId("section-note").textContent = "";
    const answer = await this.engine.ask<{ section: { t: number[]; q: Record<string, number[]>; v: Record<string, number[]> } }>(
      this.question("section", { on, count: 1000, t1: null }), "study");
    if (answer.error) return void (byId("section-note").textContent = answer.error.message);
    const { t, q: places, v } = answer.section;
    const values = new Map<string, number[]>([["t", t], ...Object.entries(places), ...Object.entries(v).map(([n, x]) => [`${n}'`, x] as [string, number[]])]);
    const names = [...values.keys()].filter((n) => n !== "t" && new Set(values.get(n)).size > 1);
    const [xField, yField] = [byId<HTMLInputElement>("section-x"), byId<HTMLInputElement>("section-y")];
    if (!values.has(xField.value)) xField.value = names.find((n) => n !== q && !n.endsWith("'")) ?? names[0] ?? "t";
    if (!values.has(yField.value)) yField.value = names.find((n) => n === `${xField.value}'`) ?? names.find((n) => n !== xField.value) ?? "t";
    this.points = { x: xField.value, y: yField.value, values };
    byId("section-note").textContent = t.length ? "" : "The motion never crosses this surface.";
    this.say(`${t.length} points where ${on}`);
    this.drawSection();
  }

  private drawSection(): void {
    const { points } = this;
    const some = points !== null && points.values.get("t")!.length > 0;
    byId("section-plot").hidden = !some;
    if (points && some) this.sectionPlot.draw([{ name: "now", t: points.values.get("t")!, values: points.values }], points.x, [points.y], true);
  }

  private async share(): Promise<void> {
    const base = location.origin === "null" ? location.href.split("#")[0]! : location.origin + location.pathname + location.search;
    const address = `${base}#${await packed(this.current())}`;
    history.replaceState(null, "", address);
    try {
      await navigator.clipboard.writeText(address);
      this.say("The link is in the clipboard.");
    } catch {
      this.say("The link is in the address line.");
    }
  }

  private async export(kind: string): Promise<void> {
    for (const menu of document.querySelectorAll<HTMLDetailsElement>("details.dropdown[open]")) menu.open = false;
    const stem = this.state.name || "model";
    const picture = { frame: () => this.stage.picture(), comparison: () => this.comparison.picture(), section: () => this.sectionPlot.picture() }[kind];
    if (picture) {
      const blob = await picture();
      if (blob) save(`${stem}.png`, blob, "image/png");
      return;
    }
    if (kind === "points") {
      if (!this.points) return this.say("Find the points first.");
      const names = [...this.points.values.keys()], rows = this.points.values.get("t")!;
      const lines = rows.map((_, i) => names.map((n) => String(this.points!.values.get(n)![i])).join(","));
      return save(`${stem}.csv`, [names.join(","), ...lines, ""].join("\n"), "text/csv");
    }
    const plot = this.state.plots[0];
    const question = this.question("export", {
      kind, form: this.state.form, samples: SAMPLES, at: this.stage.time, columns: plot?.y ?? [], against: plot?.x ?? "t",
    });
    const done = await saveFrom(this.engine, question);
    if ("error" in done) this.fault(done.error);
    else this.say(`${done.name} saved.`);
  }

  /** This page with the engine and the state inside, in one file. */
  private async exportBench(): Promise<void> {
    byId<HTMLDetailsElement>("take").open = false;
    const page = await wholePage(await packed(this.current()));
    if (!page) return this.say("The page could not be put together.", true);
    save(`${this.state.name || "workbench"}.html`, page, "text/html");
    this.say("Saved: the file runs without a network.");
  }

  private say(text: string, bad = false): void {
    const status = byId("status");
    // NOTE: what is said again is not read out again.
    if (status.textContent !== text) status.textContent = text;
    status.classList.toggle("bad", bad);
  }

  private fault(fault: Fault): void {
    this.say(fault.message, true);
    if (fault.diagnostics.length) this.mistakes(fault.diagnostics);
  }
}
