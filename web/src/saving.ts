// What a person takes along: files of the engine, pictures of the page, and the whole workbench in one file.

import { save } from "./dom";
import type { Engine, Fault, Question } from "./engine";

interface Saved { name: string; media: string; content?: string; base64?: string }

/** Asks for a file and hands it over; what went wrong otherwise. */
export async function saveFrom(engine: Engine, question: Question): Promise<{ name: string } | { error: Fault }> {
  const answer = await engine.ask<Saved>(question, "study");
  if (answer.error) return { error: answer.error };
  const content = answer.content ?? Uint8Array.from(atob(answer.base64 ?? ""), (c) => c.charCodeAt(0));
  save(answer.name, content, answer.media);
  return { name: answer.name };
}

/** This page with the engine and the state inside; nothing where the engine is a program. */
export async function wholePage(state: string): Promise<string | null> {
  const page = await ownPage();
  // The place for the state is in the head, before any script.
  const place = /<!-- state -->(<script id="pfaff-state"[^>]*>[^<]*<\/script>)?/;
  return page?.replace(place, () => `<!-- state --><script id="pfaff-state" type="text/plain">${state}</script>`) ?? null;
}

/** The page as it was loaded, before any script changed it. */
const LOADED = document.documentElement.outerHTML;

/** The files of the static site put together. */
async function ownPage(): Promise<string | null> {
  if (document.getElementById("pfaff-module")) return `<!doctype html>\n${LOADED}`;
  try {
    const names = ["index.html", "workbench.css", "workbench.js", "worker.js"];
    const [html, style, script, worker] = await Promise.all(names.map(async (f) => (await fetch(f)).text()));
    const bytes = new Uint8Array(await (await fetch("pfaff_whole.wasm.gz")).arrayBuffer());
    let text = "";
    for (let k = 0; k < bytes.length; k += 32768) text += String.fromCharCode(...bytes.subarray(k, k + 32768));
    return oneFile(html!, style!, script!, worker!, btoa(text));
  } catch {
    return null;
  }
}

/** Everything inside one page. */
function oneFile(html: string, style: string, script: string, worker: string, module: string): string {
  const safe = (text: string) => text.replaceAll("</script", "<\\/script");
  return html
    .replace(/<!-- style -->[^]*<!-- end of style -->/, () => `<style>${style}</style>`)
    .replace(/<!-- script -->[^]*<!-- end of script -->/, () =>
      `<script id="pfaff-worker" type="text/plain">${safe(worker)}</script>\n` +
      `<script id="pfaff-module" type="text/plain">${module}</script>\n<script>${safe(script)}</script>`);
}
