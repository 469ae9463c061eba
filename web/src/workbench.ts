// The workbench: one state, and views that follow it.

import { Board } from "./board";
import { byId, brief, element, save, sentence, worded } from "./dom";
import { Editor, type Words } from "./editor";
import {
  GIVEN_UP, opened, type Answer, type Engine, type Fault, type Handle, type Lane, type Outline, type Question, type Reading, type Shown,
} from "./engine";
import { Formulas } from "./formulas";
import { Held } from "./held";
import { lessonBox, LESSONS } from "./lessons";
import { COLOURS, overlaid } from "./overlay";
import { closeMenus, Panels } from "./panels";
import { saveFrom, wholePage } from "./saving";
import { Section } from "./section";
import { sliders, type Knob } from "./sliders";
import { Stage } from "./stage";
import { assignments, leave, packed, returned, start, unpacked, type Asked, type State } from "./state";
import { TUTORIAL } from "./tutorial";
import * as views from "./views";

/** Files of the whole model: kind and words. */
const EXPORTS: [string, string][] = [
  ["text", "Text of the model"], ["report", "Report page (HTML)"], ["csv", "Table (CSV)"], ["parquet", "Table (Parquet)"], ["latex", "Equations (LaTeX)"],
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
/** What is added to the name of a file that shows a part of a motion. */
const PARTS: Record<string, string> = {
  frame: "motion", drawing: "motion", svg: "plot", png: "plot", pdf: "plot", comparison: "principles", points: "section", section: "section",
};
/** What the audit says, beside the name of the page. */
const VERDICTS: Record<string, string> = {
  pass: "Audit passed", warn: "Audit has doubts", fail: "Audit failed", unchecked: "Audit incomplete",
};
/** Rows of a motion in the page. */
const SAMPLES = 501;
/** Rows while a hand moves something. */
const DRAFT = 201;
/** How long a hand must rest, in milliseconds, until its motion is computed with all rows and audited. */
const REST = 160;
/** A motion that takes longer than this, in milliseconds, is given up as soon as something changes. */
const GRACE = 400;

export class Workbench {
  state: State = start("", "");
  /** What the text says, before any slider was moved. */
  own: Outline | null = null;
  shown: Shown | null = null;
  private readonly board = new Board(this);
  private readonly panels = new Panels((view) => this.files(VIEW_FILES[view] ?? []));
  private readonly formulas = new Formulas(this);
  private readonly crossings = new Section((more) => this.engine.ask(this.question("section", more), "study"));
  private readonly comparison = new Stage(byId("compare"), "Animation of several principles", null);
  private readonly stage = new Stage(byId("animation"), "Animation of the motion", (h, kind, x, y) => this.drag(h, kind, x, y));
  private readonly editor: Editor;
  private readonly models = new Map<string, { title: string; text: string }>();
  /** The motion of a question by the interpreter, if it was asked for. */
  private interpreted: { asked: string; columns: Shown["columns"] } | null = null;
  /** The text of one's own that was last left for a model of the list. */
  private mine: State | null = null;
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
  private held: Held | null = null;
  private hand: { handle: Handle; kind: "place" | "velocity"; x: number; y: number } | null = null;

  constructor(readonly engine: Engine) {
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
    const shared = returned() || (given && (await unpacked(given.trim()))) || (location.hash.length > 1 && (await unpacked(location.hash.slice(1))));
    const opened = document.getElementById("pfaff-model")?.textContent;
    const named = options.get("model");
    if (shared) this.take(shared);
    else if (opened && !named) {
      const { name, text } = JSON.parse(opened) as { name: string; text: string };
      this.state = start(text, name);
      this.choose(name, text);
      this.editor.text = text;
    } else this.open(named && this.models.has(named) ? named : TUTORIAL[0]!.name);
    this.lesson();
    this.editor.foldNotes();
  }

  /** Everything as it was. */
  private take(state: State): void {
    this.state = state;
    this.choose(state.name, state.text);
    this.editor.text = state.text;
    byId<HTMLSelectElement>("principle").value = state.principle;
    byId<HTMLInputElement>("t1").value = state.t1 === null ? "" : String(state.t1);
    this.crossings.surface = state.section;
    this.panels.closed = state.closed;
  }

  /** Shows in the list which model the text is. */
  private choose(name: string, text: string): void {
    byId<HTMLSelectElement>("gallery").value = this.models.get(name)?.text === text ? name : "";
  }

  private listen(): void {
    const chooser = byId<HTMLSelectElement>("gallery");
    chooser.addEventListener("change", () => {
      const { mine } = this;
      // A text of one's own waits in the list while models are looked at.
      if (this.state.text !== this.models.get(this.state.name)?.text) this.mine = this.current();
      if (chooser.value !== "") this.open(chooser.value);
      else if (mine) { this.clear(); this.take(mine); this.lesson(); void this.recall(); }
      void this.read();
    });
    addEventListener("pagehide", () => leave(this.current()));
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
    byId("compare-now").addEventListener("click", () => void this.compare());
    byId("section-now").addEventListener("click", () => void this.crossings.find(this.own?.coordinates[0] ?? "t").then((told) => told && this.say(told)));
    byId("again").addEventListener("click", () => void this.interpret());
    const whole = element("button", { type: "button", click: () => void this.exportBench() }, "This workbench (one file)");
    byId("exports").append(...this.files(EXPORTS), ...(this.engine.portable ? [whole] : []));
    this.panels.changed = (isOpen) => { if (isOpen && this.shown) this.show(document.body.classList.contains("draft")); };
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => { this.board.draw(); this.crossings.draw(); });
  }

  private files(list: [string, string][]): HTMLElement[] {
    return list.map(([kind, label]) => element("button", { type: "button", click: () => void this.export(kind) }, label));
  }

  /** A model of the list in its first state. */
  private open(name: string): void {
    const model = this.models.get(name);
    if (!model) return;
    this.state = { ...start(model.text, name), form: this.state.form };
    this.clear();
    byId<HTMLSelectElement>("principle").value = "";
    byId<HTMLInputElement>("t1").value = "";
    this.editor.text = model.text;
    this.editor.foldNotes();
    this.choose(name, model.text);
    this.lesson();
  }

  /** Nothing of the model that was there. */
  private clear(): void {
    this.board.forget();
    byId("compare-keys").replaceChildren();
    byId("compare").replaceChildren();
    this.crossings.clear();
    this.own = null;
    this.held = null;
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
    if (!reading.model) return this.say(`A mistake in the text${this.shown ? ": last motion shown" : ""}`, true);
    this.own = reading.model;
    this.forget();
    this.knobs();
    this.run();
    void this.formulas.show();
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
      " ", ...worded(d.message), ...(d.hint ? [element("em", {}, ...worded(`${d.hint.charAt(0).toUpperCase()}${d.hint.slice(1)}`))] : []))));
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
    const known = !document.body.classList.contains("failed");
    const others = known && own.coordinates.length <= 6 && !own.ends ? own.coordinates.flatMap((c) => [c, `${c}'`]) : Object.keys(state.initial);
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
    this.held = values === this.state.initial && value !== null ? new Held({ [name]: value }) : null;
    this.draft();
  }

  /** A motion from a point that was chosen; the other initial values follow the constraints. */
  startAt(values: Record<string, number>): void {
    Object.assign(this.state.initial, values);
    this.held = new Held(values);
    this.knobs();
    this.run();
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
  run(): void {
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
    const more = { samples: draft ? DRAFT : SAMPLES, expressions: this.board.expressions(), draft };
    const answer = await this.motion(this.question("run", more));
    clearTimeout(late);
    byId("stop").hidden = true;
    this.busy = false;
    if (answer.error && answer.error.message !== GIVEN_UP) this.failed(answer.error);
    else if (answer.error) this.say("Stopped.");
    else if (this.follows(answer)) this.again = true;
    else this.arrived(answer, dragged || held, draft);
    // The first motion of a page is a draft, too.
    const audited = !draft || this.moving !== null || answer.error;
    if (this.again || this.hand || !audited) this.run();
  }

  /** Leads the other initial values after those that a hand holds: whether the motion is to be computed from there. */
  private follows(answer: Shown): boolean {
    const { held } = this;
    if (!held) return false;
    this.dragged = [...new Set([...Object.keys(held.values), ...answer.moved.map((m) => m.name)])];
    const values = held.next(answer.moved);
    if (values) Object.assign(this.state.initial, values);
    else this.held = null;
    return values !== null;
  }

  /** A hand that pulls a point off its constraints means the nearest place on them: that is where it starts. */
  private settle(answer: Shown): void {
    const mine = answer.moved.filter((m) => this.dragged.includes(m.name));
    if (!mine.length) return;
    for (const name of this.dragged) this.state.initial[name] = this.firstValue(name) ?? this.state.initial[name] ?? 0;
    const notes = new Set(mine.map((m) => m.note));
    answer.motion.notes = answer.motion.notes.filter((note) => !notes.has(note));
  }

  private arrived(answer: Shown, dragged: boolean, draft: boolean): void {
    this.shown = answer;
    if (dragged) this.settle(answer);
    const took = performance.now() - this.begun;
    const { motion } = answer;
    const early = motion.stop.reason === "end" ? "" : `Stopped at t = ${brief(motion.stop.t)} (${motion.stop.reason.replaceAll("_", " ")}). `;
    const verdict = draft ? "Audit follows" : `${VERDICTS[motion.audit.verdict] ?? motion.audit.verdict}, ${took.toFixed(0)} ms`;
    this.say(`${early}${verdict}`, motion.audit.verdict === "fail");
    document.body.classList.remove("stale", "failed");
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
    if (this.panels.isOpen("plots")) this.board.draw();
    if (draft) return;
    if (this.panels.isOpen("audit")) views.audit(byId("audit"), shown);
    if (this.panels.isOpen("table")) views.table(byId("table"), shown);
    this.compareWithInterpreter();
  }

  /** The kept runs of a link, once more. */
  private async recall(): Promise<void> {
    for (const run of this.state.kept) {
      const whole = { ...run, text: run.text || this.state.text };
      const more = { samples: SAMPLES, expressions: this.board.expressions() };
      const answer = await this.motion(this.question("run", more, whole));
      if (!answer.error) this.board.recall(answer, whole);
    }
  }

  /** Everything that a link carries, as it is now. */
  private current(): State {
    const { crossings, panels, board, stage } = this;
    return { ...this.state, plots: board.shownPlots(), section: crossings.surface, closed: panels.closed, kept: board.keptRuns(), camera: stage.camera };
  }

  private async tidy(): Promise<void> {
    const answer = await this.engine.ask<{ text: string }>({ ask: "format", text: this.state.text });
    if (answer.error) return this.fault(answer.error);
    if (answer.text !== this.state.text) this.editor.text = answer.text;
    this.say("The text is in order.");
  }

  /** The same motion by the interpreter. */
  private async interpret(): Promise<void> {
    const box = byId("agreement");
    box.textContent = "Computing …";
    const asked = this.asked();
    const answer = await this.motion(this.question("run", { samples: SAMPLES, backend: "interpreter" }), "study");
    if (answer.error) return box.replaceChildren(...worded(answer.error.message));
    this.interpreted = { asked, columns: answer.columns };
    if (!document.body.classList.contains("draft")) this.compareWithInterpreter();
  }

  /** How far the generated code is from the interpreter, as long as both have computed the same motion. */
  private compareWithInterpreter(): void {
    const { interpreted, shown } = this;
    if (interpreted?.asked === this.asked() && shown) byId("agreement").textContent = views.agreement(shown.columns, interpreted.columns);
    else byId("agreement").textContent = "";
  }

  private asked(): string {
    return JSON.stringify(this.question("run"));
  }

  private async compare(): Promise<void> {
    const keys = byId("compare-keys");
    keys.textContent = "Computing …";
    const answer = await this.engine.ask<{ motions: Shown[] }>(this.question("compare", { samples: SAMPLES, packed: true }), "study");
    if (answer.error) return keys.replaceChildren(element("span", { class: "note" }, ...worded(answer.error.message)));
    const motions = answer.motions.map(opened).filter((m) => m.frames > 0);
    const drawing = overlaid(motions.map((m) => m.drawing));
    if (!drawing) return keys.replaceChildren("Nothing to draw.");
    keys.replaceChildren(...motions.map((m, k) => element("span", { class: `key ${COLOURS[k % COLOURS.length]}` },
      `${m.motion.principle}: ${(VERDICTS[m.motion.audit.verdict] ?? m.motion.audit.verdict).toLowerCase()}`)));
    this.comparison.show(drawing, []);
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
    closeMenus();
    const part = PARTS[kind];
    const stem = `${this.state.name || "model"}${part ? `_${part}` : ""}`;
    const taken = (name: string, content: BlobPart, media: string) => { save(name, content, media); this.say(`${name} saved.`); };
    if (kind === "text") return taken(`${stem}.pfaff`, this.state.text, "text/plain");
    const picture = { frame: () => this.stage.picture(), comparison: () => this.comparison.picture(), section: () => this.crossings.picture() }[kind];
    if (picture) {
      const blob = await picture();
      return blob ? taken(`${stem}.png`, blob, "image/png") : this.say("There is no picture yet.");
    }
    if (kind === "points") {
      const table = this.crossings.table();
      return table ? taken(`${stem}.csv`, table, "text/csv") : this.say("Find the points first.");
    }
    const plot = this.state.plots[0];
    const question = this.question("export", {
      kind, name: stem, form: this.state.form, samples: SAMPLES, at: this.stage.time, columns: plot?.y ?? [], against: plot?.x ?? "t",
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
    if (status.textContent !== text.replaceAll("`", "")) status.replaceChildren(...worded(text));
    status.classList.toggle("bad", bad);
  }

  /** There is no motion: what is shown is an earlier one, and says nothing about this text and these values. */
  private failed(fault: Fault): void {
    document.body.classList.add("failed");
    this.fault(fault);
    this.knobs();
  }

  private fault(fault: Fault): void {
    this.say(sentence(fault.message), true);
    if (fault.diagnostics.length) this.mistakes(fault.diagnostics);
  }
}
