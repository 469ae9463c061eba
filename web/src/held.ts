// Initial values that a hand holds: they stay, and the others follow the constraints.

import type { Moved } from "./engine";

/** How often the other initial values are led after the ones that a hand holds. */
const ROUNDS = 6;
/** And how much farther than the nearest place they go at once. */
const FARTHEST = 10;

export class Held {
  private rounds = 0;
  constructor(readonly values: Record<string, number>) {}

  /**
   * Values that contradict the constraints were moved to the nearest ones. Where some that are held were among them,
   * the others go along and these stay: the values from which it is tried again. Nothing if the start is to be as it is.
   */
  next(moved: Moved[]): Record<string, number> | null {
    const others = moved.filter((m) => !(m.name in this.values));
    if (!others.length || this.rounds >= ROUNDS) return null;
    this.rounds += 1;
    const isVelocity = (m: Moved) => m.name.endsWith("'");
    const size = (list: Moved[], like: Moved) =>
      list.reduce((sum, m) => (isVelocity(m) === isVelocity(like) ? sum + (m.to - m.from) ** 2 : sum), 0);
    const values: Record<string, number> = {};
    // The others go as far as makes up for what is held: all the way where one linear constraint moved them.
    for (const m of others) {
      const more = Math.min(size(moved, m) / size(others, m), FARTHEST) - 1;
      values[m.name] = m.to + (Number.isFinite(more) ? more * (m.to - m.from) : 0);
    }
    return { ...values, ...this.values };
  }
}
