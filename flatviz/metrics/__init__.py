"""Predictions and what they are worth: scores, calibration, uncertainty, sharpness."""

from flatviz.lazy import lazy

__getattr__, __dir__, __all__ = lazy(
    __name__,
    {
        "prediction": "predict",
        "scores": "accuracy brier nll score",
        "calibration": "ece reliability",
        "uncertainty": "aleatoric_entropy mutual_information predictive_entropy",
        "exactness": "agreement total_variation",
        "diversity": "disagreement",
        "ood": "ood_scores",
        "selective": "risk_coverage",
        "curvature": "sharpness weyl_bounds",
        "learning": "learning_coefficient",
        "linearised": "predict_linearised",
    },
)
