"""What every view carries, in a browser, with a kernel that stands in: it draws what comes through the channel."""

import base64
import dataclasses

import pytest
import torch
from browsing import SLOW
from plotly.offline import get_plotlyjs

from flatviz.pages.bundle import pack, pack_members
from flatviz.pages.page import front_end
from flatviz.widgets.front import module

pytestmark = pytest.mark.browser

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


def rows_of(held, n):
    """What of it has a row a member."""
    values = held if isinstance(held, dict) else {f.name: getattr(held, f.name) for f in dataclasses.fields(held)}
    return {k: v for k, v in values.items() if isinstance(v, (tuple, torch.Tensor)) and len(v) == n}


def with_a_far_member(family, bundle):
    """(distance of its farthest draw from the plane, its record) for a copy of the last member, ten times as far off."""
    last = family.projection[-1]
    off = dataclasses.replace(last, distance=10 * last.distance)
    fields = ("method", "unit", "posterior", "around", "sharpest", "spectrum", "prediction")
    more = {name: (*getattr(family, name), getattr(family, name)[-1]) for name in fields}
    for name in ("mechanism", "images", "maps"):
        held = getattr(family, name)
        rows = {
            k: (*v, v[-1]) if isinstance(v, tuple) else torch.cat([v, v[-1:]]) for k, v in rows_of(held, len(family)).items()
        }
        more[name] = held | rows if isinstance(held, dict) else dataclasses.replace(held, **rows)
    grown = dataclasses.replace(family, radius=(*family.radius, 9.0), projection=(*family.projection, off), **more)
    return float(off.distance.max()), pack_members(bundle, grown, [len(grown) - 1])


def test_two_views_draw_what_the_channel_brings_and_follow_the_kernel(family, browser):
    bundle = pack(family, stops={}, live=True)
    page = browser.new_page(viewport={"width": 1300, "height": 900})
    page.set_default_timeout(SLOW)
    page.set_content("<div></div><div></div>")
    page.evaluate(
        STAND_IN,
        {
            "loader": module("loader.js"),
            "explorer": front_end(),
            "plotly": get_plotlyjs(),
            "index": bundle.text,
            "records": base64.b64encode(bundle.buffer).decode(),
            "traits": {"radius": 0.5, "n_draws": 3, "method": "sabma", "look": {"tab": "Surface"}},
        },
    )
    both = "(state) => [...document.querySelectorAll('.flatviz')].filter((e) => e.dataset.state === state).length === 2"
    page.wait_for_function(both, arg="sabma/0.5/3", polling=200)
    assert sorted(page.evaluate("window.asked")) == ["family", "front end"]  # once for two views
    page.evaluate("window.channel.tell('msg:custom', { kind: 'traits', traits: { radius: 2.0, n_draws: 5 } }, [])")
    page.wait_for_function(both, arg="sabma/2/5", polling=200)
    far, late = with_a_far_member(family, bundle)
    page.evaluate(
        """([index, records]) => {
          const record = new DataView(Uint8Array.from(atob(records), (c) => c.charCodeAt(0)).buffer);
          window.channel.tell('msg:custom', { kind: 'member', index }, [record]);
          window.channel.tell('msg:custom', { kind: 'traits', traits: { radius: 9.0 } }, []);
        }""",
        [late.text, base64.b64encode(late.buffer).decode()],
    )
    page.wait_for_function(both, arg="sabma/9/5", polling=200)
    ends = page.evaluate(
        "[...document.querySelectorAll('[data-name=hidden] .js-plotly-plot')].map((p) => p._fullLayout.yaxis.range[1])"
    )
    assert len(ends) == 2 and min(ends) > far  # its samples are inside the axes
    page.close()
