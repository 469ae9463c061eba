// The engine in a worker: questions in, answers out. The page sends the bytes of the module first.
/// <reference lib="webworker" />

interface Exports {
  memory: WebAssembly.Memory;
  __indirect_function_table: WebAssembly.Table;
  pfaff_room(length: number): number;
  pfaff_ask(): void;
  pfaff_answer(): number;
  pfaff_length(): number;
}

const scope = self as unknown as DedicatedWorkerGlobalScope;
let engine: Exports | null = null;
const free: number[] = [];

/** A tape as a module over the memory of the engine: the number of its function in the table, or 0. */
function instantiate(address: number, length: number): number {
  if (!engine) return 0;
  try {
    const bytes = new Uint8Array(engine.memory.buffer, address, length).slice();
    const table = engine.__indirect_function_table;
    const made = new WebAssembly.Instance(new WebAssembly.Module(bytes), { env: { memory: engine.memory, table } });
    const place = free.pop() ?? table.grow(1);
    table.set(place, made.exports.f as () => void);
    return place;
  } catch {
    return 0;
  }
}

function release(place: number): void {
  engine?.__indirect_function_table.set(place, null);
  free.push(place);
}

function ask(question: string): string {
  if (!engine) throw new Error("the engine is not there yet");
  const bytes = new TextEncoder().encode(question);
  const room = engine.pfaff_room(bytes.length);
  new Uint8Array(engine.memory.buffer, room, bytes.length).set(bytes);
  engine.pfaff_ask();
  const answer = new Uint8Array(engine.memory.buffer, engine.pfaff_answer(), engine.pfaff_length());
  return new TextDecoder().decode(answer);
}

scope.onmessage = async (event: MessageEvent) => {
  const { module, id, question } = event.data;
  if (module) {
    const made = await WebAssembly.instantiate(module as WebAssembly.Module, { pfaff: { instantiate, release } });
    engine = made.exports as unknown as Exports;
    scope.postMessage({ ready: true });
    return;
  }
  try {
    scope.postMessage({ id, answer: ask(question) });
  } catch (error) {
    scope.postMessage({ id, fault: String(error) });
  }
};
