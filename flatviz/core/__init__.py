"""Networks as vectors, data, objectives, and the two primitives behind everything slow."""

from flatviz.lazy import lazy

__getattr__, __dir__, _ = lazy(  # for the layers above; no `__all__`, for it is no public namespace
    __name__,
    {
        "arithmetic": "pick threads users_arithmetic",
        "ascent": "ASAM FisherSAM SAM",
        "boundary": "public",
        "data": "Data Likelihood Task",
        "derivatives": "Product differentiable twice",
        "inputs": "Fields Pixels run",
        "modules": "Dispatch copied draws named",
        "net": "Net",
        "objective": (
            "Curvature Objective ObjectiveLike Point PointEvaluator as_objective flattened"
            " hessian_operator"
        ),
        "progress": "Parts Progress one_bar track",
        "seeds": "generator randn_like random_state saved_rng signs_like",
        "streams": "Inputs Stream looked_at pair_of",
        "treated": "RandomTrunk Treated classes_of find_head guesses named_head replace_head",
    },
)
