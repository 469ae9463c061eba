// Everything that a link carries: the text, other values, and what is shown.

/** What a motion depends on. */
export interface Asked {
  text: string;
  name: string;
  set: Record<string, number>;
  initial: Record<string, number>;
  t1: number | null;
  tolerance: number | null;
  principle: string;
}

/** From where a drawing is seen: its size, and in space the angles. */
export interface Camera { zoom: number; turn?: number; lift?: number }

export interface State extends Asked {
  form: string;
  /** Plots: the horizontal axis and the curves, as columns or expressions. */
  plots: { x: string; y: string[] }[];
  section: string;
  /** Views that are folded. */
  closed: string[];
  /** Runs that lie under the current one, by their names; an empty text is that of the current one. */
  kept: Asked[];
  camera: Camera | null;
}

export const start = (text: string, name: string): State => ({
  text, name, set: {}, initial: {}, t1: null, tolerance: null, principle: "", form: "multipliers", plots: [], section: "",
  closed: [], kept: [], camera: null,
});

/** What a motion of a state depends on. */
export const asked = ({ text, name, set, initial, t1, tolerance, principle }: State): Asked =>
  ({ text, name, set: { ...set }, initial: { ...initial }, t1, tolerance, principle });

const through = async (bytes: Uint8Array, by: ReadableWritablePair): Promise<Uint8Array> =>
  new Uint8Array(await new Response(new Blob([bytes as BlobPart]).stream().pipeThrough(by)).arrayBuffer());

/** The state as a part of an address. */
export async function packed(state: State): Promise<string> {
  const bytes = new TextEncoder().encode(JSON.stringify(state));
  const small = await through(bytes, new CompressionStream("deflate-raw") as ReadableWritablePair);
  let text = "";
  for (const byte of small) text += String.fromCharCode(byte);
  return btoa(text).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

/** The state of an address; nothing if it is none of ours. */
export async function unpacked(text: string): Promise<State | null> {
  try {
    const small = Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (c) => c.charCodeAt(0));
    const bytes = await through(small, new DecompressionStream("deflate-raw") as ReadableWritablePair);
    const read = JSON.parse(new TextDecoder().decode(bytes)) as Partial<State>;
    if (typeof read.text !== "string") return null;
    return { ...start(read.text, "shared"), ...read };
  } catch {
    return null;
  }
}

/** Where a page keeps what it shows while it is loaded again. */
const place = (): string => `pfaff-workbench ${location.href}`;

/** What the page goes on with when it is loaded again. */
export function leave(state: State): void {
  try {
    sessionStorage.setItem(place(), JSON.stringify(state));
  } catch { /* There is no storage: the page begins anew. */ }
}

/** What this page showed before it was loaded again; nothing where it is opened. */
export function returned(): State | null {
  try {
    const [entry] = performance.getEntriesByType("navigation") as PerformanceNavigationTiming[];
    if (entry?.type !== "reload" && entry?.type !== "back_forward") return null;
    const read = JSON.parse(sessionStorage.getItem(place()) ?? "null") as Partial<State> | null;
    return typeof read?.text === "string" ? { ...start(read.text, "shared"), ...read } : null;
  } catch {
    return null;
  }
}

/** Values as the command line writes them. */
export const assignments = (values: Record<string, number>): string =>
  Object.entries(values).map(([name, value]) => `${name}=${value}`).join(", ");
