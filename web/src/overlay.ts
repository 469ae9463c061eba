// Several motions of one model in one drawing: the figures of each, told apart by their colour.

import type { Drawing } from "./engine";

/** Colours of the player, one for each motion. */
export const COLOURS = ["blue", "red", "green", "purple"];

/** Entries of a figure that name columns. */
const NAMES = ["at", "points", "radius", "axis", "spoke", "axes", "along", "value", "thickness"];

const shifted = (entry: unknown, by: number): unknown =>
  Array.isArray(entry) ? entry.map((e) => shifted(e, by)) : typeof entry === "number" ? entry + by : entry;

/** One drawing of all; it lasts as long as the longest. */
export function overlaid(list: Drawing[]): Drawing | null {
  const first = list[0];
  if (!first) return null;
  const dimension = Math.max(...list.map((d) => d.dimension));
  if (list.some((d) => d.dimension !== dimension)) return first;
  const made: Drawing = { ...first, shapes: [], columns: [], trails: [] };
  const corner = (k: number, best: (...x: number[]) => number) =>
    first.bounds[k]!.map((_, i) => best(...list.map((d) => d.bounds[k]![i]!)));
  made.bounds = [corner(0, Math.min), corner(1, Math.max)];
  list.forEach((drawing, k) => {
    const columns = made.columns.length, trails = made.trails.length;
    for (const shape of drawing.shapes) {
      const own: Record<string, unknown> = { ...shape };
      for (const name of NAMES) if (name in own) own[name] = shifted(own[name], shape.kind === "trail" ? trails : columns);
      own.colour = COLOURS[k % COLOURS.length];
      if (k > 0) { delete own.label; own.fill = false; }
      made.shapes.push(own);
    }
    made.columns.push(...drawing.columns);
    made.trails.push(...drawing.trails);
  });
  return made;
}
