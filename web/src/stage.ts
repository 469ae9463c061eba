// The drawing of the motion: the player of the reports, with handles on points that are coordinates.

import "../../crates/present/src/report/animation.js";
import { element } from "./dom";

interface Player {
  update(data: unknown): boolean;
  place(p: number[]): [number, number];
  point(at: [number, number]): [number, number];
  seek(t: number): void; pause(): void; play(): void;
  readonly start: number; readonly spatial: boolean; readonly playing: boolean; readonly time: number;
}
declare global { interface Window { pfaffPlayer: (root: HTMLElement) => Player } }

/** A point that can be dragged: its coordinates and where it starts. */
export interface Handle { names: [string, string]; at: [number, number] }

export class Stage {
  private player: Player | null = null;
  private root: HTMLElement | null = null;
  private handles: Handle[] = [];
  private marks: HTMLElement | null = null;
  private held = false;

  constructor(private parent: HTMLElement, private label: string, private dragged: ((h: Handle, x: number, y: number) => void) | null) {}

  /** Shows a motion; the same view goes on where it can. */
  show(drawing: unknown, handles: Handle[]): void {
    this.handles = handles;
    if (!this.player || !this.player.update(drawing)) this.build(drawing);
    this.mark();
  }

  clear(): void {
    this.parent.replaceChildren();
    this.player = null;
  }

  private build(drawing: unknown): void {
    const data = element("script", { type: "application/json" });
    data.textContent = JSON.stringify(drawing);
    const speeds = ["0.1", "0.25", "0.5", "1", "2", "4"];
    const options = speeds.map((s) => element("option", { value: s, selected: s === "1" }, `${s}×`));
    const canvas = element("canvas", { role: "img", tabindex: "0", "aria-label": this.label });
    this.marks = element("div", { class: "handles" });
    this.root = element("figure", { class: "pfaff-animation" },
      element("div", { class: "stage" }, canvas, this.marks),
      element("div", { class: "pfaff-controls", role: "group", "aria-label": "Playback" },
        element("button", { type: "button", class: "pfaff-play" }, "Play"),
        element("input", { type: "range", class: "pfaff-time", min: "0", max: "1000", value: "0", step: "1", "aria-label": "Time" }),
        element("output", { class: "pfaff-clock" }, "t = 0"),
        element("label", {}, "Speed ", element("select", { class: "pfaff-speed" }, ...options)),
        element("label", {}, element("input", { type: "checkbox", class: "pfaff-loop", checked: true }), " Loop")),
      data);
    this.parent.replaceChildren(this.root);
    this.player = window.pfaffPlayer(this.root);
    const follow = () => {
      if (!this.root?.isConnected) return;
      if (!this.held) this.mark();
      requestAnimationFrame(follow);
    };
    requestAnimationFrame(follow);
  }

  /** Handles where the points start, while the clock shows the start or stands still. */
  private mark(): void {
    const { player, marks } = this;
    if (!player || !marks || player.spatial || !this.dragged) return;
    while (marks.children.length > this.handles.length) marks.lastElementChild?.remove();
    for (const [k, handle] of this.handles.entries()) {
      let dot = marks.children[k] as HTMLElement | undefined;
      if (!dot) {
        dot = element("button", { type: "button", class: "handle" });
        this.grip(dot, k);
        marks.append(dot);
      }
      const [x, y] = player.place(handle.at);
      const text = `Start of (${handle.names.join(", ")}): drag, or use the arrow keys`;
      if (dot.title !== text) { dot.title = text; dot.setAttribute("aria-label", text); }
      dot.style.transform = `translate(${x}px, ${y}px)`;
    }
  }

  private grip(dot: HTMLElement, k: number): void {
    const move = (at: [number, number]) => {
      const handle = this.handles[k];
      if (!handle || !this.player) return;
      const [x, y] = this.player.point(at);
      dot.style.transform = `translate(${at[0]}px, ${at[1]}px)`;
      this.dragged?.(handle, x, y);
    };
    dot.addEventListener("pointerdown", (event) => {
      event.preventDefault();
      dot.focus();
      this.player?.pause();
      this.player?.seek(this.player.start);
      this.held = true;
      dot.setPointerCapture(event.pointerId);
    });
    dot.addEventListener("pointermove", (event) => {
      if (!this.held) return;
      const box = this.parent.querySelector("canvas")!.getBoundingClientRect();
      move([event.clientX - box.left, event.clientY - box.top]);
    });
    for (const end of ["pointerup", "pointercancel"]) dot.addEventListener(end, () => { this.held = false; });
    dot.addEventListener("keydown", (event) => {
      const step = { ArrowLeft: [-6, 0], ArrowRight: [6, 0], ArrowUp: [0, -6], ArrowDown: [0, 6] }[event.key];
      const handle = this.handles[k];
      if (!step || !handle || !this.player) return;
      event.preventDefault();
      event.stopPropagation();
      const [x, y] = this.player.place(handle.at);
      move([x + step[0]!, y + step[1]!]);
    });
  }
}
