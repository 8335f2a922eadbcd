// ---- drawing: what is in sight first, the newest state only
import { isDark } from "./colors.js";
import { Picture } from "./figures.js";
import { ImagePicture } from "./images.js";
import { ALL } from "./state.js";
import { drawControls } from "./bar.js";

export function draw(page) {
  const { layout, el } = page;
  const now = page.current();
  layout.arrange(now);
  drawControls(page, now);
  if (!page.placed && !page.stopped) {
    page.placed = true;
    page.article.goTo();
  }
  const dark = isDark() && !page.printing;
  el.dataset.theme = dark ? "dark" : "light";
  page.pending = page.frames
    .filter((f) => !f.node.hidden)
    .flatMap((frame) => prepared(page, frame, now));
  for (const one of page.pending) {
    // all that is measured, before anything is drawn: the browser lays out once
    one.height = layout.height(now, one.frame);
    one.most = page.printing
      ? Infinity
      : layout.reads(now) || (now.b && el.clientWidth < 640)
        ? one.height
        : layout.screen - layout.tall(page.head, now) - 8;
    if (one.picture.state) one.width = one.picture.plot.clientWidth;
  }
  const away = ({ frame }) => {
    const { top, bottom } = frame.node.getBoundingClientRect();
    return bottom < 0 || top > window.innerHeight;
  };
  if (layout.tabOf(now) === ALL) page.pending.sort((x, y) => Number(away(x)) - Number(away(y)));
  go(page, now, dark);
}

// The pictures of a frame at this state, put into its place, with captions.
export function prepared(page, frame, now) {
  const entry = frame.entry(now.chosen);
  const alone = entry.kind === "plotly" && !entry.binds.length;
  const sides = now.b && !alone ? { A: now.a, B: now.b } : { A: now.a };
  if (frame.shown !== `${entry.name}/${Object.keys(sides)}`) {
    frame.shown = `${entry.name}/${Object.keys(sides)}`;
    frame.node.dataset.name = entry.name;
    for (const [name, value] of Object.entries(entry.option)) frame.menus[name].value = value;
    const all = Object.keys(sides).map(
      (letter) =>
        (frame.made[entry.name + letter] ??= new (entry.kind === "images" ? ImagePicture : Picture)(
          entry,
          letter,
          page.tools,
        )),
    );
    frame.pair.replaceChildren(...all.map((p) => p.node));
  }
  if (frame.caption.textContent !== entry.caption) frame.caption.textContent = entry.caption;
  return Object.entries(sides).flatMap(([letter, { member }]) => {
    const picture = frame.made[entry.name + letter];
    const waits = Boolean(member.meta.waiting?.includes(entry.name));
    picture.node.classList.toggle("fv-waits", waits);
    if (waits) return []; // a preview, of which this is not measured yet
    picture.mark.hidden = !now.b || alone;
    return [{ frame, picture, member, entry, height: 0, most: 0, width: undefined }];
  });
}

export function go(page, now, dark) {
  const { members, pending, el } = page;
  // ms: two pictures in one frame, where they are drawn in two at most
  const until = performance.now() + (page.printing ? 1e9 : 30);
  while (pending.length) {
    const { frame, picture, member, entry, height, most, width } = pending.shift();
    if (
      picture.draw(member, now.n_draws, {
        height,
        most,
        width,
        dark,
        phone: page.layout.narrow,
        ranges: members.ranges(entry),
        transition: page.player.glide,
      })
    ) {
      picture.light(page.hovered ?? now.picked);
    }
    // a narrow picture has it below
    const [title] = (entry.layout.title?.text ?? "").split("<br>");
    frame.about.firstChild.textContent =
      picture.narrow && title ? `${title}: what is this?` : "What is this?";
    if (picture.print && !frame.caption.textContent.endsWith(picture.print))
      frame.caption.append(picture.print);
    picture.describe(
      `${member.meta.alts[entry.name]}. ${members.sentence({ member, wanted: member.meta.radius, method: member.meta.method }, now.n_draws)}`,
    );
    if (performance.now() > until && pending.length) {
      requestAnimationFrame(() => {
        if (page.pending === pending && !page.stopped) go(page, now, dark);
      });
      return;
    }
  }
  el.dataset.state = `${now.a.method}/${now.a.member.meta.radius}/${now.n_draws}`;
  el.dataset.shown = now.a.member.meta.note ? "preview" : "fitted";
  el.dataset.look = `${page.layout.tabOf(now)}${now.b ? ` | ${now.b.method}/${now.b.member.meta.radius}` : ""}`;
  if (page.hash && !page.stale) {
    // once a drag rests, where nobody changed the address meanwhile
    const before = location.hash;
    page.later(
      "address",
      () => {
        if (location.hash === before) history.replaceState(null, "", page.state.hash);
      },
      100,
    );
  }
  if (page.stale) performance.mark("flatviz-drawn");
  page.stale = false;
  if (members.live) page.later("shot", () => page.photograph(), 1500);
}
