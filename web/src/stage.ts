// The drawing of the motion: the player of the reports, with handles on points that a hand can move. A ring sets where
// a point starts, the tip of an arrow how fast.

import "../../crates/present/src/report/animation.js";
import { element, pictureOf } from "./dom";
import type { Drawing, Handle } from "./engine";
import type { Camera } from "./state";

interface Player {
  update(data: unknown): boolean;
  place(p: number[]): [number, number];
  point(at: [number, number]): [number, number];
  seek(t: number): void; pause(): void; play(): void;
  view: Camera;
  readonly start: number; readonly spatial: boolean; readonly playing: boolean; readonly time: number;
}
declare global { interface Window { pfaffPlayer: (root: HTMLElement) => Player } }

/** What a hand does: moves the start of a point, or its velocity. */
export type Dragged = (handle: Handle, kind: "place" | "velocity", x: number, y: number) => void;

const SPEEDS = ["0.1", "0.25", "0.5", "1", "2", "4"];
/** Pixels of the longest arrow. */
const LONGEST = 80;
/** Where the tip of the arrow of a point at rest is to be found, in pixels beside it. */
const REST: [number, number] = [22, -22];

export class Stage {
  private player: Player | null = null;
  private root: HTMLElement | null = null;
  private handles: Handle[] = [];
  private marks: HTMLElement | null = null;
  private held = false;
  /** Lengths of the drawing for a unit of velocity; kept while a tip is held. */
  private reach = 1;

  constructor(private parent: HTMLElement, private label: string, private dragged: Dragged | null) {}

  /** Shows a motion; the same view goes on where it can. */
  show(drawing: Drawing, handles: Handle[]): void {
    this.handles = handles;
    if (!this.player || !this.player.update(drawing)) this.build(drawing);
    if (!this.held) this.reach = this.lengths(handles);
    this.mark();
  }

  /** The longest arrow has so many pixels; a point at rest gets a unit of velocity by as many. */
  private lengths(handles: Handle[]): number {
    const { player } = this;
    if (!player || player.spatial) return 1;
    const unit = Math.abs(player.place([1, 0])[0] - player.place([0, 0])[0]) || 1;
    const fastest = Math.max(...handles.map((h) => Math.hypot(...h.velocity)), 0);
    return LONGEST / unit / (fastest || 1);
  }

  clear(): void {
    this.parent.replaceChildren(element("p", { class: "hint" }, "Nothing to show yet."));
    this.player = null;
  }

  /** From where the drawing is seen. */
  get camera(): Camera | null {
    return this.player?.view ?? null;
  }

  set camera(camera: Camera | null) {
    if (this.player && camera) this.player.view = camera;
  }

  get time(): number | null {
    return this.player?.time ?? null;
  }

  /** The picture as it is. */
  picture(): Promise<Blob | null> {
    return pictureOf(this.parent.querySelector("canvas"));
  }

  private build(drawing: Drawing): void {
    const data = element("script", { type: "application/json" });
    data.textContent = JSON.stringify(drawing);
    const options = SPEEDS.map((s) => element("option", { value: s, selected: s === "1" }, `${s}×`));
    const canvas = element("canvas", { role: "img", tabindex: "0", "aria-label": this.label });
    this.marks = element("div", { class: "handles" });
    this.root = element("figure", { class: "pfaff-animation", "aria-label": this.label },
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

  /** Handles where the points start. */
  private mark(): void {
    const { player, marks } = this;
    if (!player || !marks || player.spatial || !this.dragged) return;
    marks.classList.toggle("many", this.handles.length > 2);
    while (marks.children.length > this.handles.length) marks.lastElementChild?.remove();
    while (marks.children.length < this.handles.length) marks.append(this.grips(marks.children.length));
    for (const [k, handle] of this.handles.entries()) {
      const [line, ring, tip] = [...marks.children[k]!.children] as [HTMLElement, HTMLElement, HTMLElement];
      const at = player.place(handle.at);
      const end = this.tip(handle);
      const drawn = Math.hypot(end[0] - at[0], end[1] - at[1]);
      ring.style.transform = `translate(${at[0]}px, ${at[1]}px)`;
      tip.style.transform = `translate(${end[0]}px, ${end[1]}px)`;
      line.style.width = `${drawn}px`;
      line.style.transform = `translate(${at[0]}px, ${at[1]}px) rotate(${Math.atan2(end[1] - at[1], end[0] - at[0])}rad)`;
      for (const mark of [line, tip]) mark.classList.toggle("rests", Math.hypot(...handle.velocity) === 0);
    }
  }

  /** Where the tip of the arrow is on the canvas. */
  private tip(handle: Handle): [number, number] {
    const { at, velocity } = handle;
    const start = this.player!.place(at);
    const end = this.player!.place([at[0] + this.reach * velocity[0], at[1] + this.reach * velocity[1]]);
    const near = Math.hypot(end[0] - start[0], end[1] - start[1]) < 16;
    return near ? [start[0] + REST[0], start[1] + REST[1]] : end;
  }

  private grips(k: number): HTMLElement {
    const which = this.handles.length > 1 ? ` of point ${k + 1}` : "";
    const ring = element("button", { type: "button", class: "handle ring", title: `Start${which}: drag, or use the arrow keys` });
    const tip = element("button", { type: "button", class: "handle tip", title: `Velocity${which} at the start: drag, or use the arrow keys` });
    for (const made of [ring, tip]) made.setAttribute("aria-label", made.title);
    this.grip(ring, k, "place");
    this.grip(tip, k, "velocity");
    return element("div", {}, element("div", { class: "velocity" }), ring, tip);
  }

  private grip(dot: HTMLElement, k: number, kind: "place" | "velocity"): void {
    const move = (at: [number, number]) => {
      const handle = this.handles[k];
      if (!handle || !this.player) return;
      let [x, y] = this.player.point(at);
      if (kind === "velocity") [x, y] = [(x - handle.at[0]) / this.reach, (y - handle.at[1]) / this.reach];
      dot.style.transform = `translate(${at[0]}px, ${at[1]}px)`;
      this.dragged?.(handle, kind, x, y);
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
      this.player.pause();
      this.player.seek(this.player.start);
      const at = this.player.place(handle.at);
      const resting = kind === "velocity" && Math.hypot(...handle.velocity) === 0;
      const [x, y] = kind === "place" || resting ? at : this.tip(handle);
      move([x + step[0]!, y + step[1]!]);
    });
  }
}
