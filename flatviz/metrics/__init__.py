"""Predictions and what they are worth: scores, calibration, uncertainty, sharpness."""

from flatviz.lazy import lazy

__getattr__, __dir__, __all__ = lazy(
    __name__,
    {
        "prediction": "predict predict_linearised",
        "scores": "accuracy brier nll score",
        "calibration": "ace class_ece ece fit_temperature reliability scale_temperature",
        "uncertainty": "aleatoric_entropy mutual_information ood_scores predictive_entropy",
        "exactness": "agreement disagreement total_variation",
        "selective": "risk_coverage",
        "curvature": "learning_coefficient sharpness weyl_bounds",
    },
)
