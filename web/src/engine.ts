// Who answers: a worker with the engine inside this page, or `pfaff studio` on this machine. Both take the same
// questions; a question that is overtaken by a newer one of its kind is given up.

export interface Diagnostic {
  code: string; severity: "error" | "warning"; line: number; column: number;
  from: number; to: number; message: string; hint: string | null;
}
export interface Outline {
  title: string; coordinates: string[]; lets: string[]; constraints: string[]; observed: string[]; events: string[];
  parameters: { name: string; value: number; derived: boolean }[];
  initial: { name: string; value: number }[];
  principle: string; range: [number, number] | null; tolerance: number; samples: number; ends: boolean;
  handles: [string, string][];
}
export interface Reading { pieces: [number, number, string][]; diagnostics: Diagnostic[]; model: Outline | null }
export interface Check { name: string; value: number | null; limit: number | null; verdict: string; reason: string }
export interface Motion {
  model: string; principle: string | null; method: string; stop: { reason: string; t: number }; t: number[];
  q: Record<string, number[]>; v: Record<string, number[]>;
  events: { name: string; t: number }[]; notes: string[]; errors: Record<string, number | null>;
  audit: { verdict: string; checks: Check[] };
  statistics: Record<string, number>;
}
export interface Shown {
  motion: Motion; columns: { name: string; values: (number | null)[] }[]; drawing: unknown; frames: number; notes: string[];
}
export interface Fault { message: string; diagnostics: Diagnostic[] }
export type Answer<T> = T & { error?: Fault };
export type Question = { ask: string } & Record<string, unknown>;

export interface Engine {
  /** Where the answers come from, in words. */
  readonly home: string;
  ask<T>(question: Question, interpreted?: boolean): Promise<Answer<T>>;
  /** Gives up what is under way. */
  cancel(): void;
}

const failed = (message: string) => ({ error: { message, diagnostics: [] } });

/** `pfaff studio`: one request a question, given up by closing it. */
class Server implements Engine {
  readonly home = "this machine";
  private running = new Set<AbortController>();
  constructor(private token: string) {}
  async ask<T>(question: Question): Promise<Answer<T>> {
    const control = new AbortController();
    this.running.add(control);
    try {
      const answer = await fetch("ask", {
        method: "POST", body: JSON.stringify(question), signal: control.signal,
        headers: { "content-type": "application/json", "x-pfaff-token": this.token },
      });
      return (await answer.json()) as Answer<T>;
    } catch (error) {
      const message = control.signal.aborted ? "given up" : `pfaff studio does not answer (${String(error)})`;
      return failed(message) as Answer<T>;
    } finally {
      this.running.delete(control);
    }
  }
  cancel(): void {
    for (const control of this.running) control.abort();
  }
}

/** The engine as WebAssembly in a worker; giving up means a new worker. */
class InPage implements Engine {
  readonly home = "this page";
  private worker: Worker | null = null;
  private ready: Promise<void> = Promise.resolve();
  private open = new Map<number, (answer: unknown) => void>();
  private next = 1;
  constructor(private module: WebAssembly.Module, private script: string) {
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
          this.restart("the engine stopped: " + fault);
          done?.(failed("the engine stopped at this question: " + fault));
        } else done?.(JSON.parse(answer));
      };
      worker.onerror = (event) => this.restart(event.message);
    });
    this.worker = worker;
    worker.postMessage({ module: this.module });
  }
  private restart(reason: string): void {
    this.worker?.terminate();
    for (const done of this.open.values()) done(failed(reason));
    this.open.clear();
    this.start();
  }
  async ask<T>(question: Question, interpreted = false): Promise<Answer<T>> {
    await this.ready;
    const id = this.next;
    this.next += 1;
    return new Promise((resolve) => {
      this.open.set(id, resolve as (answer: unknown) => void);
      this.worker?.postMessage({ id, question: JSON.stringify(question), interpreted });
    });
  }
  cancel(): void {
    if (this.open.size > 0) this.restart("given up");
  }
}

function bytesOf(base64: string): Uint8Array {
  return Uint8Array.from(atob(base64), (c) => c.charCodeAt(0));
}

async function unpacked(bytes: Uint8Array): Promise<ArrayBuffer> {
  const stream = new Blob([bytes as BlobPart]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(stream).arrayBuffer();
}

/** The engine of this page: a server if the page came from one, else the module beside or inside it. */
export async function engine(): Promise<Engine> {
  const token = document.querySelector<HTMLMetaElement>("meta[name=pfaff-token]")?.content;
  if (token) return new Server(token);
  const script = document.getElementById("pfaff-worker")?.textContent ?? (await (await fetch("worker.js")).text());
  const inside = document.getElementById("pfaff-module")?.textContent;
  const packed = inside ? bytesOf(inside.trim()) : new Uint8Array(await (await fetch("pfaff.wasm.gz")).arrayBuffer());
  // A server may have unpacked it on the way.
  const raw = packed[0] === 0x1f ? await unpacked(packed) : packed;
  return new InPage(await WebAssembly.compile(raw as BufferSource), script);
}
