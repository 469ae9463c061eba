// The editor: colours and mistakes come from the engine's own reading of the text.

import { autocompletion, closeBrackets, completionKeymap, type CompletionContext, type CompletionResult } from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap } from "@codemirror/commands";
import { bracketMatching, codeFolding, foldEffect, foldKeymap, unfoldAll } from "@codemirror/language";
import { lintGutter, setDiagnostics } from "@codemirror/lint";
import { EditorState, RangeSetBuilder, StateEffect, StateField } from "@codemirror/state";
import { Decoration, type DecorationSet, drawSelection, EditorView, highlightActiveLine, hoverTooltip, keymap, lineNumbers } from "@codemirror/view";
import type { Outline, Reading } from "./engine";

export interface Word { word: string; form: string; meaning?: string }
export interface Words { keywords: Word[]; functions: Word[] }

const coloured = StateEffect.define<DecorationSet>();
const colours = StateField.define<DecorationSet>({
  create: () => Decoration.none,
  update(set, transaction) {
    let next = set.map(transaction.changes);
    for (const effect of transaction.effects) if (effect.is(coloured)) next = effect.value;
    return next;
  },
  provide: (field) => EditorView.decorations.from(field),
});

export class Editor {
  readonly view: EditorView;
  private outline: Outline | null = null;
  private words: Words = { keywords: [], functions: [] };

  /** What a name stands for, as a formula of the engine. */
  formula: ((name: string) => Promise<string | null>) | null = null;

  constructor(parent: HTMLElement, text: string, private changed: (text: string) => void) {
    const extensions = [
      lineNumbers(), history(), drawSelection(), bracketMatching(), closeBrackets(), highlightActiveLine(), lintGutter(),
      colours, codeFolding({ placeholderText: " … more notes" }),
      autocompletion({ icons: false, override: [(context) => this.complete(context)] }),
      hoverTooltip((view, at) => this.hover(view, at)),
      // Tab leaves the editor, as it leaves every other field.
      keymap.of([...completionKeymap, ...foldKeymap, ...defaultKeymap, ...historyKeymap]),
      EditorView.contentAttributes.of({ "aria-label": "Text of the model", spellcheck: "false", autocapitalize: "off" }),
      EditorView.updateListener.of((update) => { if (update.docChanged) this.changed(this.text); }),
      EditorView.lineWrapping,
    ];
    this.view = new EditorView({ parent, state: EditorState.create({ doc: text, extensions }) });
  }

  get text(): string {
    return this.view.state.doc.toString();
  }

  set text(text: string) {
    this.view.dispatch({ changes: { from: 0, to: this.view.state.doc.length, insert: text } });
  }

  /** Folds the notes at the top of a text, so that the model itself is seen. */
  foldNotes(): void {
    unfoldAll(this.view);
    const { doc } = this.view.state;
    let last = 0;
    while (last < doc.lines && doc.line(last + 1).text.startsWith("#")) last += 1;
    if (last < 4) return;
    this.view.dispatch({ effects: foldEffect.of({ from: doc.line(1).to, to: doc.line(last).to }) });
  }

  know(words: Words): void {
    this.words = words;
  }

  /** Shows what the engine read in this text. */
  show(reading: Reading): void {
    this.outline = reading.model ?? this.outline;
    const size = this.view.state.doc.length;
    const builder = new RangeSetBuilder<Decoration>();
    for (const [from, to, kind] of reading.pieces) {
      if (to <= size && from < to) builder.add(from, to, Decoration.mark({ class: `tok-${kind}` }));
    }
    const marks = reading.diagnostics.map((d) => ({
      from: Math.min(d.from, size), to: Math.min(Math.max(d.to, d.from), size), severity: d.severity,
      message: `${d.message}${d.hint ? `\nHint: ${d.hint}` : ""} (${d.code})`,
    }));
    this.view.dispatch({ effects: coloured.of(builder.finish()) });
    this.view.dispatch(setDiagnostics(this.view.state, marks));
  }

  /** The caret at a place of the text. */
  goTo(offset: number): void {
    const at = Math.min(offset, this.view.state.doc.length);
    this.view.dispatch({ selection: { anchor: at }, scrollIntoView: true });
    this.view.focus();
  }

  private complete(context: CompletionContext): CompletionResult | null {
    const word = context.matchBefore(/[\p{L}_][\p{L}\p{N}_]*/u);
    if (!word || (word.from === word.to && !context.explicit)) return null;
    const line = context.state.doc.lineAt(context.pos);
    const first = line.text.slice(0, word.from - line.from).trim() === "";
    const names = this.outline;
    const own = (list: string[], detail: string) => list.map((label) => ({ label, detail, type: "variable" }));
    const options = [
      ...(first ? this.words.keywords.map((k) => ({ label: k.word, detail: k.form.slice(k.word.length).trim(), type: "keyword", boost: 10 })) : []),
      ...(names ? [
        ...own(names.coordinates, "coordinate"), ...own(names.parameters.map((p) => p.name), "parameter"),
        ...own(names.lets, "let"), ...own(names.observed, "observed"), ...own(names.constraints, "constraint"),
      ] : []),
      ...this.words.functions.map((f) => ({ label: f.word, detail: f.form, info: f.meaning, type: "function", apply: `${f.word}(` })),
    ];
    return { from: word.from, options, validFor: /^[\p{L}\p{N}_]*$/u };
  }

  private async hover(view: EditorView, at: number) {
    const line = view.state.doc.lineAt(at);
    const left = /[\p{L}\p{N}_]*$/u.exec(line.text.slice(0, at - line.from))?.[0] ?? "";
    const right = /^[\p{L}\p{N}_]*/u.exec(line.text.slice(at - line.from))?.[0] ?? "";
    const word = left + right;
    if (!word || line.text.slice(0, at - line.from).includes("#")) return null;
    const words = this.explain(word);
    const known = this.outline && [...this.outline.lets, ...this.outline.observed, ...this.outline.constraints];
    const energy = ["lagrangian", "kinetic", "potential"].includes(word);
    const named = energy || known?.some((n) => n === word || n.startsWith(`${word}[`));
    const formula = named ? await this.formula?.(word) : null;
    if (!words && !formula) return null;
    return {
      pos: at - left.length, end: at + right.length, above: true,
      create() {
        const dom = document.createElement("div");
        dom.className = "hover";
        if (words) dom.append(Object.assign(document.createElement("div"), { textContent: words }));
        // MathML of the engine: every name of the model is escaped there.
        if (formula) dom.insertAdjacentHTML("beforeend", formula);
        return { dom };
      },
    };
  }

  private explain(word: string): string | null {
    const keyword = this.words.keywords.find((k) => k.word === word);
    if (keyword) return keyword.form;
    const call = this.words.functions.find((f) => f.word === word);
    if (call) return `${call.form}: ${call.meaning}`;
    const names = this.outline;
    if (!names) return null;
    const parameter = names.parameters.find((p) => p.name === word);
    if (parameter) return `parameter ${word} = ${parameter.value}`;
    if (names.coordinates.includes(word)) return `coordinate ${word}, with the velocity ${word}'`;
    return null;
  }
}
