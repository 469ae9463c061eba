// Small words for the page.

export const byId = <T extends HTMLElement>(id: string): T => {
  const found = document.getElementById(id);
  if (!found) throw new Error(`the page has no #${id}`);
  return found as T;
};

type Attributes = Record<string, string | boolean | ((event: Event) => void)>;

/** An element with its attributes, handlers and children. */
export function element<K extends keyof HTMLElementTagNameMap>(
  tag: K, attributes: Attributes = {}, ...children: (Node | string)[]
): HTMLElementTagNameMap[K] {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") made.addEventListener(name, value);
    else if (value === true) made.setAttribute(name, "");
    else if (value !== false) made.setAttribute(name, value);
  }
  made.append(...children);
  return made;
}

/** A message with what stands between back quotes as code. */
export function worded(message: string): (Node | string)[] {
  return message.split("`").map((part, k) => k % 2 ? element("code", {}, part) : part);
}

/** A message of the engine as a sentence: a capital letter, and no more digits than people read. */
export const sentence = (message: string): string => message.replace(/^[a-z](?=[a-z]* )/, (letter) => letter.toUpperCase())
  .replace(/\d+\.\d{6,}(?![\de])/g, (digits) => String(Number(Number(digits).toPrecision(6))));

/** Five digits for people. */
export function brief(x: number | null | undefined): string {
  if (x === null || x === undefined || !Number.isFinite(x)) return "–";
  if (x === 0) return "0";
  const size = Math.abs(x);
  if (size >= 1e5 || size < 1e-3) return x.toExponential(2).replace("e+", "e").replace("-", "−").replace("e-", "e−");
  return String(Number(x.toPrecision(5))).replace("-", "−");
}

/** Hands a file to the person. */
export function save(name: string, content: BlobPart, media: string): void {
  const address = URL.createObjectURL(new Blob([content], { type: media }));
  const link = element("a", { href: address, download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}

/** A canvas as a PNG, on the paper of the page: lines for a dark page cannot be seen on a white one. */
export function pictureOf(canvas: HTMLCanvasElement | null): Promise<Blob | null> {
  if (!canvas) return Promise.resolve(null);
  const copy = element("canvas");
  [copy.width, copy.height] = [canvas.width, canvas.height];
  const pen = copy.getContext("2d")!;
  pen.fillStyle = getComputedStyle(document.documentElement).getPropertyValue("--paper").trim();
  pen.fillRect(0, 0, copy.width, copy.height);
  pen.drawImage(canvas, 0, 0);
  return new Promise((resolve) => copy.toBlob(resolve));
}
