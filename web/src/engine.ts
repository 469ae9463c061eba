// Who answers: workers with the engine inside this page, or `pfaff studio` on this machine. Both take the same
// questions. There are two lanes, so that long formulas never keep a motion waiting; what is given up in one lane
// leaves the other alone.

export interface Diagnostic {
  code: string; severity: "error" | "warning"; line: number; column: number;
  from: number; to: number; message: string; hint: string | null;
}
export interface Outline {
  title: string; coordinates: string[]; lets: string[]; constraints: string[]; observed: string[]; events: string[];
  parameters: { name: string; value: number; derived: boolean; structural: boolean }[];
  initial: { name: string; value: number }[];
  principle: string; range: [number, number] | null; tolerance: number; samples: number; ends: boolean;
}
export interface Reading { pieces: [number, number, string][]; diagnostics: Diagnostic[]; model: Outline | null }
export interface Check { name: string; value: number | null; limit: number | null; verdict: string; reason: string }
export interface Motion {
  model: string; principle: string | null; method: string; stop: { reason: string; t: number };
  events: { name: string; t: number }[]; notes: string[]; errors: Record<string, number | null>;
  audit: { verdict: string; checks: Check[] };
  statistics: Record<string, number>;
}
/** A point of the drawing at the start: where it is and how fast. */
export interface Handle { point: number; at: [number, number]; velocity: [number, number] }
/** An initial value that contradicted the constraints, and the sentence about it. */
export interface Moved { name: string; from: number; to: number; note: string }
export interface Shown {
  motion: Motion; moved: Moved[]; columns: { name: string; values: (number | null)[] }[]; faults: string[]; drawing: Drawing;
  frames: number; notes: string[]; handles?: Handle[];
}
/** What the player draws; see `crates/present/src/report/animation.js`. */
export interface Drawing {
  dimension: number; start: number; end: number; frames: number; bounds: number[][]; view: unknown;
  shapes: Record<string, unknown>[]; columns: unknown[]; trails: unknown[];
}
export interface Fault { message: string; diagnostics: Diagnostic[] }
export type Answer<T> = T & { error?: Fault };
export type Question = { ask: string } & Record<string, unknown>;
/** What must be quick, and what may take long. */
export type Lane = "motion" | "study";

export interface Engine {
  /** Where the answers come from, in words. */
  readonly home: string;
  /** Whether this page can be saved with its engine inside. */
  readonly portable: boolean;
  ask<T>(question: Question, lane?: Lane): Promise<Answer<T>>;
  /** Gives up what is under way in a lane. */
  cancel(lane: Lane): void;
}

/** The message of what was given up. */
export const GIVEN_UP = "given up";
const failed = (message: string) => ({ error: { message, diagnostics: [] } });

/** `pfaff studio`: one request a question, given up by closing it. */
class Server implements Engine {
  readonly home = "the program pfaff on this machine";
  readonly portable = false;
  private running = { motion: new Set<AbortController>(), study: new Set<AbortController>() };
  constructor(private token: string) {}
  async ask<T>(question: Question, lane: Lane = "motion"): Promise<Answer<T>> {
    const control = new AbortController();
    this.running[lane].add(control);
    try {
      const answer = await fetch("ask", {
        method: "POST", body: JSON.stringify(question), signal: control.signal,
        headers: { "content-type": "application/json", "x-pfaff-token": this.token },
      });
      return (await answer.json()) as Answer<T>;
    } catch {
      const message = control.signal.aborted ? GIVEN_UP : "pfaff studio does not answer. Is it still running?";
      return failed(message) as Answer<T>;
    } finally {
      this.running[lane].delete(control);
    }
  }
  cancel(lane: Lane): void {
    for (const control of this.running[lane]) control.abort();
  }
}

/** One worker with the engine as WebAssembly; giving up means a new worker. */
class Room {
  private worker: Worker | null = null;
  private ready: Promise<void> = Promise.resolve();
  private open = new Map<number, (answer: unknown) => void>();
  private next = 1;
  /** The worker starts while its module is still on the way. */
  constructor(private module: Promise<WebAssembly.Module>, private script: string) {
    this.start();
  }
  private start(): void {
    const address = URL.createObjectURL(new Blob([this.script], { type: "text/javascript" }));
    const worker = new Worker(address);
    URL.revokeObjectURL(address);
    this.ready = new Promise((resolve) => {
      worker.onmessage = (event: MessageEvent) => {
        const { ready, id, answer, fault } = event.data;
        if (ready) return resolve();
        const done = this.open.get(id);
        this.open.delete(id);
        if (fault) {
          // A trap leaves the memory as it was: the next question gets a new engine.
          this.restart(`the engine stopped: ${fault}`);
          done?.(failed(`the engine stopped at this question: ${fault}`));
        } else done?.(JSON.parse(answer));
      };
      worker.onerror = (event) => this.restart(event.message);
    });
    this.worker = worker;
    // What cannot be loaded is told by who waits for it.
    this.module.then((module) => worker.postMessage({ module }), () => undefined);
  }
  private restart(reason: string): void {
    this.worker?.terminate();
    const waiting = [...this.open.values()];
    this.open.clear();
    this.start();
    for (const done of waiting) done(failed(reason));
  }
  async ask<T>(question: Question): Promise<Answer<T>> {
    await this.ready;
    const id = this.next;
    this.next += 1;
    return new Promise((resolve) => {
      this.open.set(id, resolve as (answer: unknown) => void);
      this.worker?.postMessage({ id, question: JSON.stringify(question) });
    });
  }
  cancel(): void {
    if (this.open.size > 0) this.restart(GIVEN_UP);
  }
}

/** Rooms with the first module, and with the whole one from the first question on that the first leaves to it. */
class InPage implements Engine {
  readonly home = "this page";
  readonly portable = true;
  private first: Partial<Record<Lane, Room>> = {};
  private rest: Partial<Record<Lane, Room>> = {};
  private loading: Promise<WebAssembly.Module> | null = null;
  private cancelled = { motion: 0, study: 0 };
  constructor(private module: Promise<WebAssembly.Module>, private script: string) {
    this.first.motion = new Room(module, script);
  }
  async ask<T>(question: Question, lane: Lane = "motion"): Promise<Answer<T>> {
    const cancelled = this.cancelled[lane];
    const answer = await (this.first[lane] ??= new Room(this.module, this.script)).ask<T & { elsewhere?: boolean }>(question);
    if (!answer.elsewhere) return answer;
    const module = (this.loading ??= compiled("pfaff_whole.wasm.gz"));
    try {
      await module;
    } catch (error) {
      this.loading = null;
      return failed(`this needs the rest of the engine, which cannot be loaded: ${String(error)}`) as Answer<T>;
    }
    if (this.cancelled[lane] !== cancelled) return failed(GIVEN_UP) as Answer<T>;
    return (this.rest[lane] ??= new Room(module, this.script)).ask<T>(question);
  }
  cancel(lane: Lane): void {
    this.cancelled[lane] += 1;
    this.first[lane]?.cancel();
    this.rest[lane]?.cancel();
  }
}

function bytesOf(base64: string): Uint8Array<ArrayBuffer> {
  const text = atob(base64);
  const bytes = new Uint8Array(text.length);
  for (let k = 0; k < text.length; k += 1) bytes[k] = text.charCodeAt(k);
  return bytes;
}

/** Motions with their columns as numbers: they come as Base64 of their bytes, which is read faster than digits. */
export function opened(shown: Shown): Shown {
  for (const column of shown.columns as { packed?: string; values: (number | null)[] }[]) {
    if (column.packed === undefined) continue;
    column.values = Array.from(new Float64Array(bytesOf(column.packed).buffer), (x) => (Number.isFinite(x) ? x : null));
    delete column.packed;
  }
  return shown;
}

async function file(name: string): Promise<Response> {
  const answer = await fetch(name);
  if (!answer.ok) throw new Error(`${name}: ${answer.status}`);
  return answer;
}

/** A module of the site. */
async function compiled(name: string): Promise<WebAssembly.Module> {
  return moduleOf((await file(name)).body!);
}

/** A module from its bytes as they come, packed or not: a server may have unpacked them on the way. */
async function moduleOf(stream: ReadableStream<Uint8Array<ArrayBuffer>>): Promise<WebAssembly.Module> {
  const reader = stream.getReader();
  const first = await reader.read();
  const bytes = new ReadableStream<Uint8Array<ArrayBuffer>>({
    start: (out) => { if (first.value) out.enqueue(first.value); },
    pull: async (out) => {
      const { done, value } = await reader.read();
      if (done) out.close(); else out.enqueue(value);
    },
  });
  const raw = first.value?.[0] === 0x1f ? bytes.pipeThrough(new DecompressionStream("gzip")) : bytes;
  return WebAssembly.compileStreaming(new Response(raw, { headers: { "content-type": "application/wasm" } }));
}

/** The engine of this page: a server if the page came from one, else the module beside or inside it. */
export async function engine(): Promise<Engine> {
  const token = document.querySelector<HTMLMetaElement>("meta[name=pfaff-token]")?.content;
  if (token) return new Server(token);
  const inside = document.getElementById("pfaff-module")?.textContent;
  const module = inside ? moduleOf(new Blob([bytesOf(inside.trim())]).stream()) : compiled("pfaff.wasm.gz");
  const own = document.getElementById("pfaff-worker")?.textContent;
  const script = own ? own : await (await file("worker.js")).text();
  const made = new InPage(module, script);
  await module;
  return made;
}
