// The start of the page: options of the address, the engine, the workbench.

import { engine } from "./engine";
import { Workbench } from "./workbench";

const options = new URLSearchParams(location.search);
// For pages of others: `?model=sleigh&editor=hidden&sliders=hidden&views=animation,plots&theme=dark`
for (const part of ["editor", "sliders", "header"]) {
  if (options.get(part) === "hidden") document.body.classList.add(`no-${part}`);
}
const wanted = options.get("views")?.split(",");
for (const view of document.querySelectorAll<HTMLElement>(".view")) {
  if (wanted && !wanted.includes(view.dataset.view!)) view.hidden = true;
}
const theme = options.get("theme");
if (theme === "dark" || theme === "light") document.documentElement.dataset.theme = theme;
// The lessons stand beside the page, and behind the same token.
const token = options.get("token");
const lessons = document.getElementById("lessons-link") as HTMLAnchorElement | null;
if (lessons && token) lessons.href = `lessons.html?token=${encodeURIComponent(token)}`;
if (lessons && document.getElementById("pfaff-module")) lessons.hidden = true;

void engine()
  .then((made) => {
    // For pages and people who want to ask themselves: `await pfaff.ask({ask: "run", text: "…"})`
    Object.assign(window, { pfaff: { ask: made.ask.bind(made) } });
    return new Workbench(made).begin(options);
  })
  .catch((error: unknown) => {
    const status = document.getElementById("status");
    if (status) { status.textContent = `The engine does not start: ${String(error)}`; status.classList.add("bad"); }
  });
