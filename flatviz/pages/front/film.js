// ---- taking it along: pictures, a film of the radius, code

import { download, element, loaded } from "./elements.js";

const FOOT = 40;
const EACH = 450; // px below the pictures of a film; ms a picture

// shown: [[letter, entry, picture]], all that is in sight.
export async function save(shown, format) {
  for (const [letter, entry, picture] of shown) {
    const { method, radius } = picture.member.meta;
    download(
      await picture.image(format, format === "png" ? 2 : 1),
      ["flatviz", entry.name, method, radius || "", letter === "B" ? "b" : ""]
        .filter(Boolean)
        .join("-") + `.${format}`,
    );
  }
}

// The pictures that are shown, side by side, at every fitted radius and back again, as a video.
// member: the one shown; radii: its method's; shown(): as for `save`.
export async function film({ el, state, member, radii, shown }) {
  const before = state.all;
  const { method, label } = member.meta;
  const stills = [];
  for (const radius of radii) {
    state.put({ ...before, radius });
    while (el.dataset.state !== `${method}/${radius}/${before.n_draws}`)
      await new Promise(requestAnimationFrame);
    stills.push({
      radius,
      images: await Promise.all(shown().map(async ([, , p]) => loaded(await p.image("png")))),
    });
  }
  state.put(before);
  const wide = Math.max(...stills.map(({ images }) => images.reduce((sum, i) => sum + i.width, 0)));
  const tall = Math.max(...stills.flatMap(({ images }) => images.map((i) => i.height)));
  const canvas = element("canvas", { width: wide + (wide % 2), height: tall + FOOT + (tall % 2) });
  const pen = canvas.getContext("2d"); // even, as MP4 needs it
  const { color, backgroundColor, fontFamily } = getComputedStyle(el);
  const parts = [];
  const type = ["video/mp4", "video/webm"].find((t) => MediaRecorder.isTypeSupported(t));
  const recorder = new MediaRecorder(canvas.captureStream(), {
    mimeType: type,
    videoBitsPerSecond: 4e6,
  });
  const ended = new Promise((done) => {
    recorder.addEventListener("stop", done);
  });
  recorder.addEventListener("dataavailable", ({ data }) => parts.push(data));
  recorder.start();
  for (const { radius, images } of [...stills, ...stills.slice(0, -1).reverse(), stills[0]]) {
    // a video ends where its last picture begins
    Object.assign(pen, { fillStyle: backgroundColor, font: `600 18px ${fontFamily}` });
    pen.fillRect(0, 0, canvas.width, canvas.height);
    images.reduce((x, image) => {
      pen.drawImage(image, x, 0);
      return x + image.width;
    }, 0);
    pen.fillStyle = color;
    pen.fillText(`${label}, radius ${radius}`, 14, canvas.height - 14);
    await new Promise((done) => {
      setTimeout(done, EACH);
    });
  }
  recorder.stop();
  await ended;
  download(
    URL.createObjectURL(new Blob(parts, { type })),
    `flatviz-${method}-radius.${type?.slice(6)}`,
  );
}

// Python that draws what is shown, at this state.
export function codeOf(shown, index, { n_draws: n }) {
  const calls = shown
    .filter(([, entry]) => entry.kind === "plotly")
    .map(
      ([
        ,
        entry,
        {
          member: { meta },
        },
      ]) =>
        `fv.widgets.plot_view(family, ${JSON.stringify(entry.name)}, method=${JSON.stringify(meta.method)}, radius=${meta.radius}, n_draws=${n})`,
    );
  return ["import flatviz as fv", "", ...(index.code ?? []), ...calls].join("\n");
}

// A text area that shows what was copied until the reader presses elsewhere.
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

  take(words, what) {
    const { node } = this;
    node.hidden = false;
    node.value = words;
    node.select();
    navigator.clipboard?.writeText(words).then(
      () => node.setAttribute("aria-label", `${what}, copied`),
      () => {},
    );
    const away = (e) => {
      if (e.target !== node) {
        node.hidden = true;
        document.removeEventListener("pointerdown", away);
      }
    };
    document.addEventListener("pointerdown", away);
  }
}
