// The panels of the views: folded, enlarged, and with a menu of what can be saved.

import { element } from "./dom";

/** Panels that are folded when a page is opened. */
const FOLDED = ["compare", "section", "table"];
/** Left and right arrows go from one tab to the next. */
const STEPS: Record<string, number> = { ArrowRight: 1, ArrowLeft: -1 };

const all = (): HTMLElement[] => [...document.querySelectorAll<HTMLElement>(".view")];
const titleOf = (view: HTMLElement): string => view.querySelector("h2")!.firstChild!.textContent!.trim();

export class Panels {
  /** Called with every panel that is opened or folded. */
  changed: (isOpen: boolean) => void = () => undefined;

  constructor(files: (view: string) => HTMLElement[]) {
    for (const view of all()) this.furnish(view, files(view.dataset.view!));
    document.addEventListener("click", (event) => closeMenus((menu) => !menu.contains(event.target as Node)));
    document.addEventListener("keydown", (event) => {
      if (event.key === "Escape") closeMenus(() => true, (menu) => menu.querySelector("summary")?.focus());
    });
  }

  isOpen(name: string): boolean {
    return !document.querySelector(`.view[data-view=${name}]`)?.classList.contains("closed");
  }

  /** The names of those that are folded. */
  get closed(): string[] {
    return all().filter((view) => view.classList.contains("closed")).map((view) => view.dataset.view!);
  }

  set closed(names: string[]) {
    for (const view of all()) this.fold(view, names.includes(view.dataset.view!));
  }

  private furnish(view: HTMLElement, files: HTMLElement[]): void {
    const name = view.dataset.view!, title = titleOf(view);
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
      element("div", { class: "menu" }, ...files));
    view.querySelector("h2")!.append(element("span", { class: "tools" }, menu, large, fold));
    this.fold(view, FOLDED.includes(name));
  }

  private fold(view: HTMLElement, closed: boolean): void {
    view.classList.toggle("closed", closed);
    const button = view.querySelector<HTMLElement>("[data-fold]");
    button?.setAttribute("aria-expanded", String(!closed));
    button?.setAttribute("aria-label", `${closed ? "Open" : "Close"}: ${titleOf(view)}`);
    if (button) { button.textContent = closed ? "+" : "–"; button.title = closed ? "Open" : "Close"; }
    this.changed(!closed);
  }
}

/** Closes menus that are open; `then` is called with each of them. */
export function closeMenus(which: (menu: HTMLDetailsElement) => boolean = () => true, then?: (menu: HTMLDetailsElement) => void): void {
  for (const menu of document.querySelectorAll<HTMLDetailsElement>("details.dropdown[open]")) {
    if (!which(menu)) continue;
    menu.open = false;
    then?.(menu);
  }
}

/** A row of tabs: a name and words each. */
export class Tabs {
  constructor(private readonly row: HTMLElement, panel: string, names: [string, string][], chosen: (name: string) => void) {
    row.append(...names.map(([name, words]) => element("button", {
      type: "button", role: "tab", "data-form": name, "aria-controls": panel, click: () => chosen(name),
    }, words)));
    row.addEventListener("keydown", (event) => {
      const step = STEPS[event.key];
      const at = this.buttons.indexOf(document.activeElement as HTMLButtonElement);
      if (!step || at < 0) return;
      const next = this.buttons[(at + step + this.buttons.length) % this.buttons.length]!;
      next.focus();
      next.click();
    });
  }

  private get buttons(): HTMLButtonElement[] {
    return [...this.row.querySelectorAll("button")];
  }

  select(name: string): void {
    for (const tab of this.buttons) {
      const on = tab.dataset.form === name;
      tab.setAttribute("aria-selected", String(on));
      tab.tabIndex = on ? 0 : -1;
    }
  }
}
