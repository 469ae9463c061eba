// The page of lessons: eight models, each with the workbench beside its questions.

import { byId, element } from "./dom";
import { LESSONS, lessonParts } from "./lessons";

const token = new URLSearchParams(location.search).get("token");
const home = token ? "./" : "index.html";
const address = (name: string, options = "") => `${home}?${token ? `token=${encodeURIComponent(token)}&` : ""}model=${name}${options}`;

const names = Object.keys(LESSONS);
byId("contents").append(...names.map((name) => element("li", {}, element("a", { href: `#${name}` }, LESSONS[name]!.title))));
byId<HTMLAnchorElement>("home").href = token ? `${home}?token=${encodeURIComponent(token)}` : home;
for (const name of names) {
  const lesson = LESSONS[name]!;
  const place = element("div", { class: "experiment" });
  const open = element("a", { href: address(name) }, "Open it in the workbench");
  const show = element("button", {
    type: "button",
    click: () => place.replaceChildren(element("iframe", {
      src: address(name, "&header=hidden&editor=hidden&views=animation,plots"), title: `Experiment: ${lesson.title}`,
    }), open),
  }, "Show the experiment here");
  place.append(show, " ", open);
  byId("lessons").append(element("article", { id: name }, element("h2", {}, lesson.title), place, ...lessonParts(lesson)));
}
