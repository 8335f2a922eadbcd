"""Labs that end with their test; one packs the family that it is given, which takes seconds: here
each is packed once."""

from internals import pack
from pytest import fixture

import flatviz as fv
from flatviz.families import Fitting


@fixture(scope="session")
def packed():
    """(family, settings) -> bundle."""
    return {}


@fixture(autouse=True)
def pack_once(packed, monkeypatch):
    def kept(family, **settings):
        key = id(family), repr(settings)
        if key not in packed:
            packed[key] = family, pack(family, **settings)  # the family too: no other gets its id
        return packed[key][1]

    monkeypatch.setattr("flatviz.widgets.view.pack", kept)


def spied(view):
    """The list to which whatever the view sends from now on is added: (content, buffers)."""
    sent = []

    def send(update, buffers):
        (message,) = update["state"].values()
        sent.append((message, buffers))

    view.channel.comm.send = send
    view._answer(view, {"want": "all"}, [])  # a page that opens
    sent.clear()
    return sent


def messages(lab, kind):
    """The contents of this kind that were sent."""
    return [content for content, _ in lab.sent_messages if content["kind"] == kind]


@fixture
def make_lab(transferred, task):
    """A lab of the small network, by what else it takes."""
    made = []

    def make(*, fit=None, **settings):
        net, prior = transferred
        made.append(lab := fv.widgets.Lab(Fitting(net, task, prior, 0, fit), **settings))
        lab.sent_messages = spied(lab.view)
        if lab.family is None:
            lab.run()
        return lab

    yield make
    for lab in made:
        lab.close()
        lab.wait(60)
