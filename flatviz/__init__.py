"""flatviz: Bayesian flatness, trained, measured, drawn.

    import flatviz as fv

The names of the course's first half are here: nouns (`fv.Net`, `fv.Gaussian`), methods
(`fv.SABMA`) and the verb that runs them (`fv.fit`), landscapes (`fv.slice_plane`), figures
(`fv.plot(result)`, `fv.explore(result)`) and scores (`fv.score(prediction, "ece")`).  Everything
else is in a namespace: `fv.metrics`, `fv.symmetry`, `fv.planes`, `fv.plots`, `fv.datasets`,
`fv.models`, and one for each further folder.

Names load when first used, so a machine without plotly, torchvision, scikit-learn, ipywidgets or
loss-landscapes imports flatviz and computes on tensors.
"""

from flatviz.lazy import attach

__version__ = "0.1.0"

__getattr__, __dir__, __all__ = attach(__name__, __file__)
