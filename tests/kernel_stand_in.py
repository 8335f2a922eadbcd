"""A page with views whose kernel stands in: it sends what a test gives it."""

from __future__ import annotations

import base64

from browsing import SLOW
from plotly.offline import get_plotlyjs

from flatviz.pages.page import front_end
from flatviz.widgets.front import module

STAND_IN = """async ({ loader, explorer, plotly, index, records, traits }) => {
  const events = () => {
    const heard = [];
    return {
      on: (name, f) => { heard.push([name, f]); },
      off: (name, f) => { heard.splice(0, heard.length, ...heard.filter(([n, g]) => n !== name || g !== f)); },
      tell: (name, ...what) => [...heard].filter(([n]) => n === name).forEach(([, f]) => f(...what)),
    };
  };
  const bytes = (text) => new DataView(new TextEncoder().encode(text).buffer);
  const asked = window.asked = [], channel = window.channel = events();
  const record = new DataView(Uint8Array.from(atob(records), (c) => c.charCodeAt(0)).buffer);
  channel.send = ({ want }) => setTimeout(() => {
    asked.push(want);
    if (want === "family") {
      channel.tell("msg:custom", { kind: "traits", traits }, []);
      channel.tell("msg:custom", { kind: "family", index }, [record]);
    } else channel.tell("msg:custom", { kind: want }, [bytes(explorer), bytes(plotly)]);
  });
  const state = { radius: 99, n_draws: 1, method: "none", front: "this one", channel: "IPY_MODEL_c" };
  const model = { ...events(), get: (key) => state[key], save_changes() {} };
  model.set = (key, value) => {
    const changed = typeof key === "object" ? key : { [key]: value };
    Object.assign(state, changed);
    Object.keys(changed).forEach((name) => model.tell(`change:${name}`));
  };
  model.send = () => { throw new Error("a slow page never answers this"); };
  model.widget_manager = { get_model: async (id) => { if (id !== "c") throw new Error(id); return channel; } };
  const url = URL.createObjectURL(new Blob([loader], { type: "text/javascript" }));
  const { default: view } = await import(url);
  for (const el of document.querySelectorAll("div")) await view.render({ model, el });
}"""

TOLD = """([contents]) => contents.forEach(({ records, ...content }) => {
  const bytes = Uint8Array.from(atob(records ?? ""), (c) => c.charCodeAt(0)).buffer;
  window.channel.tell("msg:custom", content, records === undefined ? [] : [new DataView(bytes)]);
})"""


def shown(browser, bundle, traits, *, views=1):
    """A page with views of this bundle, at these traits."""
    page = browser.new_page(viewport={"width": 1300, "height": 900})
    page.set_default_timeout(SLOW)
    page.set_content("<div></div>" * views)
    given = {"loader": module("loader.js"), "explorer": front_end(), "plotly": get_plotlyjs(), "traits": traits}
    page.evaluate(STAND_IN, given | {"index": bundle.text, "records": base64.b64encode(bundle.buffer).decode()})
    return page


def send_members(page, added, traits):
    """Members that the kernel measured, and where the controls stand then."""
    records = base64.b64encode(added.buffer).decode()
    told = [{"kind": "member", "index": added.text, "records": records}, {"kind": "traits", "traits": traits}]
    page.evaluate(TOLD, [told])
