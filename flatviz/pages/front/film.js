// ---- taking it along: pictures, a film of the radius, code

import { download, element, loaded, penOf } from "./elements.js";

/** @import { Controls, Index, Member, Shown } from "./types.d.ts" */
/** @import { State } from "./state.js" */

/**
 * A film: of the page in `el`, of this member's method at these radii; shown(): all that is in
 * sight.
 * @typedef {{ el: HTMLElement, state: State, member: Member, radii: number[], shown: () => Shown[]
 *   }} Film
 */

const FOOT = 40; // px below the pictures
const EACH_MS = 450; // a picture

/**
 * Save every picture that is shown as a file.
 * @param {Shown[]} shown
 * @param {"svg" | "png"} format
 */
export async function save(shown, format) {
  for (const [letter, entry, picture] of shown) {
    if (!picture.member) continue;
    const { method, radius } = picture.member.meta;
    const parts = ["flatviz", entry.name, method, radius || "", letter === "B" ? "b" : ""];
    const url = await picture.image(format, format === "png" ? 2 : 1);
    download(url, `${parts.filter(Boolean).join("-")}.${format}`);
  }
}

/**
 * Save the pictures that are shown, side by side, at every fitted radius and back again, as a
 * video.
 * @param {Film} how
 */
export async function film({ el, state, member, radii, shown }) {
  const before = state.all;
  const { method, label } = member.meta;
  const stills = [];
  for (const radius of radii) {
    state.put({ ...before, radius });
    while (el.dataset.state !== `${method}/${radius}/${before.n_draws}`)
      await new Promise(requestAnimationFrame);
    const images = await Promise.all(
      shown().map(async ([, , picture]) => loaded(await picture.image("png"))),
    );
    stills.push({ text: `${label}, radius ${radius}`, images });
  }
  state.put(before);
  // a video ends where its last picture begins
  const { blob, type } = await recorded(el, [
    ...stills,
    ...stills.slice(0, -1).reverse(),
    stills[0],
  ]);
  download(URL.createObjectURL(blob), `flatviz-${method}-radius.${type?.slice(6)}`);
}

/**
 * Stills as a video: in each images side by side above a text.
 * @param {HTMLElement} el whose colours and font it has
 * @param {{ text: string, images: HTMLImageElement[] }[]} stills
 */
async function recorded(el, stills) {
  const widths = stills.map(({ images }) => images.reduce((sum, image) => sum + image.width, 0));
  const wide = Math.max(...widths);
  const tall = Math.max(...stills.flatMap(({ images }) => images.map((image) => image.height)));
  // even, as MP4 needs it
  const canvas = element("canvas", { width: wide + (wide % 2), height: tall + FOOT + (tall % 2) });
  const pen = penOf(canvas);
  const { color, backgroundColor, fontFamily } = getComputedStyle(el);
  const type = ["video/mp4", "video/webm"].find((one) => MediaRecorder.isTypeSupported(one));
  const how = { mimeType: type, videoBitsPerSecond: 4e6 };
  const recorder = new MediaRecorder(canvas.captureStream(), how);
  /** @type {Blob[]} */
  const parts = [];
  const ended = new Promise((done) => {
    recorder.addEventListener("stop", done);
  });
  recorder.addEventListener("dataavailable", ({ data }) => parts.push(data));
  recorder.start();
  pen.font = `600 18px ${fontFamily}`;
  for (const { text, images } of stills) {
    pen.fillStyle = backgroundColor;
    pen.fillRect(0, 0, canvas.width, canvas.height);
    let left = 0;
    for (const image of images) {
      pen.drawImage(image, left, 0);
      left += image.width;
    }
    pen.fillStyle = color;
    pen.fillText(text, 14, canvas.height - 14);
    await new Promise((done) => {
      setTimeout(done, EACH_MS);
    });
  }
  recorder.stop();
  await ended;
  return { blob: new Blob(parts, { type }), type };
}

/**
 * Python that draws what is shown, at this state.
 * @param {Shown[]} shown
 * @param {Index} index
 * @param {Pick<Controls, "n_draws">} now
 */
export function codeOf(shown, index, { n_draws: n }) {
  const calls = shown.flatMap(([, { kind, name }, { member }]) => {
    if (kind !== "plotly" || !member) return [];
    const { method, radius } = member.meta;
    const of = `method=${JSON.stringify(method)}, radius=${radius}, n_draws=${n}`;
    return [`fv.widgets.plot_view(family, ${JSON.stringify(name)}, ${of})`];
  });
  return ["import flatviz as fv", "", ...(index.code ?? []), ...calls].join("\n");
}

/** A text area that shows what was copied until the reader presses elsewhere. */
export class Copied {
  constructor() {
    this.node = element("textarea", {
      class: "fv-code",
      rows: 6,
      readonly: "",
      hidden: "",
      "aria-label": "code",
      style: "width:100%",
    });
  }

  /**
   * Copy a text.
   * @param {string} words
   * @param {string} what its name
   */
  take(words, what) {
    const { node } = this;
    node.hidden = false;
    node.value = words;
    node.select();
    navigator.clipboard?.writeText(words).then(
      () => node.setAttribute("aria-label", `${what}, copied`),
      () => {},
    );
    const away = (/** @type {Event} */ e) => {
      if (e.target !== node) {
        node.hidden = true;
        document.removeEventListener("pointerdown", away);
      }
    };
    document.addEventListener("pointerdown", away);
  }
}
