// The panel of the equations: a tab for each form, and what is known of the model above them.

import { byId, element, worded } from "./dom";
import { GIVEN_UP, type Engine, type Outline } from "./engine";
import { Tabs } from "./panels";
import type { State } from "./state";
import * as views from "./views";

const FORMS: [string, string][] = [
  ["multipliers", "Multipliers"], ["full", "Written out"], ["reduced", "Reduced"], ["hamilton", "Hamilton"], ["kane", "Kane"],
  ["gibbs_appell", "Gibbs–Appell"], ["boltzmann_hamel", "Boltzmann–Hamel"], ["voronets", "Voronets"], ["routhian", "Routh"],
  ["geometry", "Geometry"],
];
/** After how many milliseconds a panel says that it is being worked on. */
const GRACE = 400;
/** How long nothing must be written until long equations are looked at once more. */
const PAUSE = 500;

/** What the equations need of the workbench. */
export interface Derived {
  readonly engine: Engine;
  readonly state: State;
  readonly own: Outline | null;
}

export class Formulas {
  private readonly tabs = new Tabs(byId("forms"), "formulas", FORMS, (form) => { this.bench.state.form = form; void this.show(); });

  constructor(private readonly bench: Derived) {}

  /** Derives and shows the form of the text that is chosen. */
  async show(): Promise<void> {
    const { form, text, principle } = this.bench.state;
    this.tabs.select(form);
    const panel = byId("formulas");
    const begun = performance.now();
    const isNow = () => form === this.bench.state.form && text === this.bench.state.text && principle === this.bench.state.principle;
    const late = setTimeout(() => { if (isNow()) panel.replaceChildren(element("p", { class: "hint" }, "Deriving …")); }, GRACE);
    this.bench.engine.cancel("study");
    const question = { ask: "equations", text, name: this.bench.state.name || "model", principle, form };
    const shown = async (quick: boolean): Promise<boolean> => {
      const answer = await this.bench.engine.ask<{ html: string; signs: string | null; partial: boolean }>({ ...question, quick }, "study");
      clearTimeout(late);
      if (!isNow() || answer.error?.message === GIVEN_UP) return false;
      if (answer.error) panel.replaceChildren(element("p", { class: "hint" }, ...worded(answer.error.message)));
      else views.formulas(panel, answer.html, answer.signs, form);
      panel.dataset.form = form;
      panel.dataset.took = (performance.now() - begun).toFixed(1);
      return quick && answer.partial;
    };
    // Long equations come first without what takes longest to find, and with it when the hand rests: a question that is
    // given up costs a new engine.
    const isPartial = await shown(true);
    await this.facts(isNow);
    if (!isPartial) return;
    await new Promise((done) => setTimeout(done, PAUSE));
    if (isNow()) await shown(false);
  }

  /** Degrees of freedom and classes, above the equations. */
  private async facts(isNow: () => boolean): Promise<void> {
    if (!isNow()) return;
    if ((this.bench.own?.coordinates.length ?? 0) > 60) return void (byId("facts").textContent = "");
    const question = { ask: "check", text: this.bench.state.text, name: this.bench.state.name || "model" };
    const told = await this.bench.engine.ask<{ check: views.Facts }>(question, "study");
    if (isNow() && !told.error) byId("facts").textContent = views.facts(told.check);
  }
}
