// ---- drawing: what is in sight first, the newest state only
import { isDark } from "./colors.js";
import { Picture } from "./figures.js";
import { ImagePicture } from "./images.js";
import { ALL } from "./state.js";

/** @import { AnyPicture, Entry, Member, Now } from "./types.d.ts" */
/** @import { Explorer } from "./explorer.js" */
/** @import { Frame } from "./frames.js" */

/**
 * A picture that is to be drawn, in its room: most: height in px that leaves the controls in sight.
 * @typedef {object} Pending
 * @property {Frame} frame
 * @property {AnyPicture} picture
 * @property {Member} member
 * @property {Entry} entry
 * @property {number} height
 * @property {number} most
 * @property {number | undefined} width
 */

const IN_FRAME_MS = 30; // two pictures in one frame, where they are drawn in two at most
const ADDRESS_MS = 100; // until a drag rests
const SHOT_MS = 1500;

/** Draw the page at the state of now. @param {Explorer} page */
export function draw(page) {
  const { layout, el, frames } = page;
  const now = page.current();
  layout.arrange(now);
  page.bar.show(now);
  if (!page.placed && !page.stopped) {
    page.placed = true;
    page.article.goTo();
  }
  const dark = isDark() && !page.printing;
  el.dataset.theme = dark ? "dark" : "light";
  const pending = frames
    .filter(({ node }) => !node.hidden)
    .flatMap((frame) => prepared(page, frame, now));
  // all that is measured, before anything is drawn: the browser lays out once
  for (const one of pending) {
    one.height = layout.height(now, one.frame);
    one.most = mostOf(page, now, one.height);
    if (one.picture.state) one.width = one.picture.plot.clientWidth;
  }
  const away = (/** @type {Pending} */ { frame }) => {
    const { top, bottom } = frame.node.getBoundingClientRect();
    return bottom < 0 || top > window.innerHeight;
  };
  if (layout.tabOf(now) === ALL) pending.sort((x, y) => Number(away(x)) - Number(away(y)));
  page.pending = pending;
  go(page, now, dark);
}

/**
 * How high a picture may be.
 * @param {Explorer} page
 * @param {Now} now
 * @param {number} height that it has
 */
function mostOf({ printing, layout, el, bar }, now, height) {
  if (printing) return Infinity;
  if (layout.reads(now) || (now.b && el.clientWidth < 640)) return height;
  return layout.screen - layout.tall(bar.node, now) - 8;
}

/**
 * The pictures of a frame at this state, put into its place, with captions.
 * @param {Explorer} page
 * @param {Frame} frame
 * @param {Now} now
 * @returns {Pending[]}
 */
function prepared(page, frame, now) {
  const { a, b } = now;
  const entry = frame.entry(now.chosen);
  const alone = entry.kind === "plotly" && !entry.binds.length;
  const sides = b && !alone ? { A: a, B: b } : { A: a };
  const letters = Object.keys(sides);
  const shown = `${entry.name}/${letters}`;
  if (frame.shown !== shown) {
    frame.shown = shown;
    frame.node.dataset.name = entry.name;
    for (const [name, value] of Object.entries(entry.option)) frame.menus[name].value = value;
    const Kind = entry.kind === "images" ? ImagePicture : Picture;
    const made = letters.map(
      (letter) => (frame.made[entry.name + letter] ??= new Kind(entry, letter, page.tools)),
    );
    frame.pair.replaceChildren(...made.map(({ node }) => node));
  }
  if (frame.caption.textContent !== entry.caption) frame.caption.textContent = entry.caption;
  return Object.entries(sides).flatMap(([letter, { member }]) => {
    const picture = frame.made[entry.name + letter];
    const waits = Boolean(member.meta.waiting?.includes(entry.name));
    picture.node.classList.toggle("fv-waits", waits);
    if (waits) return []; // a preview, of which this is not measured yet
    picture.mark.hidden = !b || alone;
    return [{ frame, picture, member, entry, height: 0, most: 0, width: undefined }];
  });
}

/**
 * Draw the pictures that wait, as many as there is time for in a frame of the browser.
 * @param {Explorer} page
 * @param {Now} now
 * @param {boolean} dark
 */
function go(page, now, dark) {
  const { pending } = page;
  const until = performance.now() + (page.printing ? 1e9 : IN_FRAME_MS);
  for (let one = pending.shift(); one; one = pending.shift()) {
    drawOne(page, now, dark, one);
    if (performance.now() > until && pending.length) {
      requestAnimationFrame(() => {
        if (page.pending === pending && !page.stopped) go(page, now, dark);
      });
      return;
    }
  }
  told(page, now);
}

/**
 * Draw a picture, with what is said of it.
 * @param {Explorer} page
 * @param {Now} now
 * @param {boolean} dark
 * @param {Pending} one
 */
function drawOne(page, now, dark, { frame, picture, member, entry, height, most, width }) {
  const { members, layout, bar } = page;
  const drawn = picture.draw(member, now.n_draws, {
    height,
    most,
    width,
    dark,
    phone: layout.narrow,
    ranges: members.ranges(entry),
    transition: bar.player.glide,
  });
  if (drawn) picture.light(page.lit);
  // a narrow picture has its title below it
  const [title] = (entry.layout.title?.text ?? "").split("<br>");
  frame.question.textContent =
    picture.narrow && title ? `${title}: what is this?` : "What is this?";
  if (picture.print && !frame.caption.textContent?.endsWith(picture.print))
    frame.caption.append(picture.print);
  const { alts, radius, method } = member.meta;
  const sentence = members.sentence({ member, wanted: radius, method }, now.n_draws);
  picture.describe(`${alts[entry.name]}. ${sentence}`);
}

/**
 * Say that all is drawn: in the page's attributes, in its address, and to the kernel.
 * @param {Explorer} page
 * @param {Now} now
 */
function told(page, now) {
  const { el, layout, members } = page;
  const { a, b } = now;
  el.dataset.state = `${a.method}/${a.member.meta.radius}/${now.n_draws}`;
  el.dataset.shown = a.member.meta.note ? "preview" : "fitted";
  const beside = b ? ` | ${b.method}/${b.member.meta.radius}` : "";
  el.dataset.look = `${layout.tabOf(now)}${beside}`;
  if (page.hash && !page.stale) {
    // once a drag rests, where nobody changed the address meanwhile
    const before = location.hash;
    const write = () => {
      if (location.hash === before) history.replaceState(null, "", page.state.hash);
    };
    page.later("address", write, ADDRESS_MS);
  }
  if (page.stale) performance.mark("flatviz-drawn");
  page.stale = false;
  if (members.live) page.later("shot", () => page.photograph(), SHOT_MS);
}
