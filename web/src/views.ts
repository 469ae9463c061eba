// What is shown of an answer: equations, audit, table.

import { brief, element, sentence, worded } from "./dom";
import type { Check, Motion, Shown } from "./engine";

/** Headings that come first: what most people look for. */
const FIRST = /^(Equations|Euler–Lagrange equations|Constraints|Contacts)/;

/** The formulas of the engine: the equations first, the parts that they are made of folded away. */
export function formulas(panel: HTMLElement, html: string, signs: string | null, form: string): void {
  // Other numbers leave most equations as they are: laying them out takes longer than deriving them.
  const asked = JSON.stringify([html, signs, form, panel.clientWidth]);
  const there = panel.firstElementChild;
  if (there && laidOut.get(there) === asked) return;
  const box = element("div");
  // MathML of the engine: every name of the model is escaped there.
  box.innerHTML = html;
  const parts: HTMLElement[] = [];
  const words: Element[] = [];
  for (const child of [...box.children]) {
    if (child.tagName === "H2") {
      parts.push(element("section", {}, element("h3", {}, ...child.childNodes)));
    } else if (child.tagName === "P" || parts.length === 0) words.push(child);
    else parts[parts.length - 1]!.append(child);
  }
  const first = form === "multipliers" ? parts.filter((p) => FIRST.test(p.firstElementChild?.textContent ?? "")) : parts;
  const rest = parts.filter((p) => !first.includes(p));
  // "principle …" and "signs: …" are said elsewhere.
  const said = words.filter((w) => !/^(principle|signs:)/.test(w.textContent ?? ""));
  const alike = sameLines(said);
  for (const w of alike) spelled(w);
  panel.replaceChildren(...alike.filter((w) => !/^Conserved|^To watch|^observe/.test(w.textContent ?? "")), ...(first.length ? first : rest));
  if (first.length && rest.length) {
    panel.append(element("details", { class: "parts" }, element("summary", {}, "The parts they are made of"), ...rest));
  }
  panel.append(...alike.filter((w) => /^Conserved/.test(w.textContent ?? "")));
  if (signs) panel.append(element("p", { class: "hint" }, `Signs: ${onPaper(signs)}.`));
  // Where an equation is wider than its panel, its right side goes below its left one.
  const room = panel.clientWidth;
  const all = [...panel.querySelectorAll<MathMLElement>("section > math")];
  for (const math of all.filter((m) => m.getBoundingClientRect().width > room)) narrowed(math);
  if (panel.firstElementChild) laidOut.set(panel.firstElementChild, asked);
}

/** Formulas that are shown, by their first element: from what they were made. */
const laidOut = new WeakMap<Element, string>();

/** Lines that differ in an index alone are one, which names the first and the last of them. */
function sameLines(lines: Element[]): Element[] {
  const kinds = new Map<string, Element[]>();
  for (const line of lines) {
    const kind = line.innerHTML.replace(/`(\w+)\[\d+\]`/g, "`$1`");
    kinds.set(kind, [...(kinds.get(kind) ?? []), line]);
  }
  return [...kinds.values()].map(([first, ...rest]) => {
    const last = rest[rest.length - 1];
    if (!first || !last) return first!;
    const index = /\[(\d+)\]`/.exec(last.innerHTML)?.[1];
    if (index) first.innerHTML = first.innerHTML.replace(/`(\w+)\[\d+\]`/, (all, name: string) => `${all} … \`${name}[${index}]\``);
    return first;
  });
}

/** A line of the engine as a sentence: a capital before words, names as code, a full stop. */
function spelled(line: Element): void {
  line.innerHTML = line.innerHTML.replace("the form `multipliers` writes them all", "the tab “Written out” has them all")
    .replace(/`([^`<]*)`/g, "<code>$1</code>").replace(/\blambda &gt;= 0/, "λ ≥ 0").replace(/\bmu &gt;= 0/, "μ ≥ 0").replaceAll("&lt;=", "≤").replace(/\bmu (?=[A-Z]\b)/, "μ ")
    .replace(/^[a-z](?=[a-z]+[ :])/, (letter) => letter.toUpperCase()).replace(/([\w>)\]])$/, "$1.");
}

/** Sides one below the other; what a cell holds stays in its row. */
function narrowed(math: MathMLElement): void {
  math.classList.add("narrow");
  for (const cell of math.querySelectorAll("mtd")) {
    if (cell.children.length < 2) continue;
    const row = document.createElementNS("http://www.w3.org/1998/Math/MathML", "mrow");
    row.append(...cell.childNodes);
    cell.append(row);
  }
}

/** Words of the engine for a terminal, as they are written on paper. */
const PAPER: [RegExp, string][] = [
  [/\^T\b/g, "ᵀ"], [/dphi\/dq/g, "∂φ/∂q"], [/dL\/dv/g, "∂L/∂v"], [/\blambda\b/g, "λ"], [/\bmu\b/g, "μ"], [/\bphi\b/g, "φ"],
  [/q''/g, "q̈"], [/\*/g, " "], [/= \+ /g, "= "], [/-(?=[\d ])/g, "−"],
];
const onPaper = (words: string): string => PAPER.reduce((text, [from, to]) => text.replace(from, to), words);

/** Degrees of freedom and classes, in one line. */
export interface Facts {
  degrees_of_freedom: number; regular: boolean | null;
  constraints: { name: string; class: string; integrable?: boolean | null }[];
}

export function facts(check: Facts): string {
  const count = check.degrees_of_freedom;
  const kinds = new Map<string, string[]>();
  for (const c of check.constraints) {
    const integrable = c.class === "holonomic" || c.integrable === undefined || c.integrable === null ? "" : c.integrable ? ", integrable" : ", not integrable";
    const kind = `${c.class}${integrable}`;
    kinds.set(kind, [...(kinds.get(kind) ?? []), c.name]);
  }
  const list = [...kinds].map(([kind, names]) =>
    `${names.length > 4 ? `${names.slice(0, 2).join(", ")} … ${names[names.length - 1]}` : names.join(", ")}: ${kind}`);
  const singular = check.regular === false ? " The accelerations are not determined." : "";
  return `${count} ${count === 1 ? "degree" : "degrees"} of freedom${list.length ? `; ${list.join("; ")}` : ""}.${singular}`;
}

const REASONS: Record<string, string> = {
  pass: "The audit passed: the numbers can be trusted to the tolerance.",
  warn: "The audit has doubts: see the rows below.",
  fail: "The audit failed: do not trust these numbers.",
  unchecked: "The audit could not check everything.",
};

export function audit(box: HTMLElement, shown: Shown): void {
  const { motion } = shown;
  const row = (name: string, value: string, limit: string, verdict: string, reason: string) =>
    element("tr", { title: reason }, element("th", { scope: "row" }, name), element("td", {}, value), element("td", {}, limit),
      element("td", {}, element("span", { class: `verdict ${verdict}` }, verdict)));
  const errors = Object.entries(motion.errors ?? {}).filter(([, e]) => e !== null);
  // What the constraints give is no cause for alarm.
  const follows = /^initial (.+) = (\S+) follows from the constraints$/;
  const notes = [...motion.notes, ...shown.notes];
  const found = notes.map((n) => follows.exec(n)).filter((m) => m !== null).map((m) => `${m[1]} = ${brief(Number(m[2]))}`);
  const others = together(notes.filter((n) => !follows.test(n)));
  const heads = ["check", "value", "limit", "verdict"].map((h) => element("th", { scope: "col" }, h));
  const hint = (text: string) => element("p", { class: "hint" }, text);
  box.replaceChildren(
    element("p", {}, element("span", { class: `verdict ${motion.audit.verdict}` }, REASONS[motion.audit.verdict] ?? motion.audit.verdict)),
    hint(`${motion.principle ? `Principle ${motion.principle}` : "Equations as written"}, method ${motion.method}, ${motion.statistics.steps ?? 0} steps.`),
    ...(found.length ? [hint(`From the constraints: ${found.slice(0, 8).join(", ")}${found.length > 8 ? " …" : ""}`)] : []),
    ...others.map((n) => element("p", { class: "note" }, ...worded(sentence(n)))),
    element("div", { class: "scroll" }, element("table", { "aria-label": "Checks of the audit" }, element("thead", {}, element("tr", {}, ...heads)),
      element("tbody", {}, ...families(motion.audit.checks).map((c) => row(c.name, brief(c.value), brief(c.limit), c.verdict, c.reason))))),
    ...(errors.length ? [hint(`Estimated errors at the end: ${errors.slice(0, 8).map(([n, e]) => `${n} ${brief(e)}`).join(", ")}${errors.length > 8 ? " …" : ""}`)] : []),
    ...(motion.events.length ? [hint(events(motion))] : []));
}

/** Initial values that were moved for the same reason, in one note with digits that can be read. */
function together(notes: string[]): string[] {
  const moved = /^initial (.+) moved from (\S+) to (\S+): (.*)$/;
  const lists = new Map<string, string[]>();
  const others: string[] = [];
  for (const note of notes) {
    const found = moved.exec(note);
    if (!found) { others.push(note); continue; }
    const [, name, from, to, why] = found as unknown as [string, string, string, string, string];
    lists.set(why, [...(lists.get(why) ?? []), `${name} from ${brief(Number(from))} to ${brief(Number(to))}`]);
  }
  return [...[...lists].map(([why, list]) => `initial values moved: ${list.slice(0, 8).join(", ")}${list.length > 8 ? " …" : ""}; ${why}`), ...others];
}

/** Checks of the entries of a vector that are many and all pass: the one that is nearest to its limit. */
const MANY = 4;
function families(checks: Check[]): Check[] {
  const all = new Map<string, Check[]>();
  for (const check of checks) {
    const name = check.name.replace(/\[[\d,]+\]/, "[…]");
    all.set(name, [...(all.get(name) ?? []), check]);
  }
  const part = (c: Check) => (c.value ?? 0) / (c.limit || 1);
  return [...all].flatMap(([name, list]) => {
    if (list.length <= MANY || list.some((c) => c.verdict !== "pass")) return list;
    const worst = list.reduce((a, b) => (part(b) > part(a) ? b : a));
    return [{ ...worst, name: `${name}, largest of ${list.length}` }];
  });
}

function events(motion: Motion): string {
  const list = motion.events.slice(0, 12).map((e) => `${e.name} at t = ${brief(e.t)}`).join(", ");
  return `Events: ${list}${motion.events.length > 12 ? ` and ${motion.events.length - 12} more` : ""}`;
}

/** How far two motions are from each other. */
export function agreement(columns: Shown["columns"], others: Shown["columns"]): string {
  let most = 0, where = "";
  for (const column of others) {
    const mine = columns.find((c) => c.name === column.name)?.values ?? [];
    const size = Math.max(1, ...column.values.map((v) => Math.abs(v ?? 0)));
    column.values.forEach((v, i) => {
      const off = v === mine[i] ? 0 : Math.abs((v ?? NaN) - (mine[i] ?? NaN)) / size;
      if (!(off <= most)) { most = off; where = column.name; }
    });
  }
  return most === 0 ? "The same to the last bit." : `Largest relative difference ${brief(most)}, in ${where}.`;
}

/** Every so many rows of all columns, with all digits in their titles. */
export function table(box: HTMLElement, shown: Shown): void {
  const columns = shown.columns.slice(0, 24);
  const rows = columns[0]?.values.length ?? 0;
  const step = Math.max(1, Math.ceil(rows / 100));
  const lines: HTMLElement[] = [];
  for (let i = 0; i < rows; i += step) lines.push(element("tr", {}, ...columns.map((c) => element("td", {}, brief(c.values[i])))));
  box.replaceChildren(element("table", { "aria-label": "Rows of the motion" }, element("thead", {}, element("tr", {}, ...columns.map((c) => element("th", { scope: "col" }, c.name)))),
    element("tbody", {}, ...lines)));
  if (step > 1) box.append(element("p", { class: "hint" }, `Every ${step}th of ${rows} rows; a saved table has all of them.`));
}
