"""Predictions and their scores, calibration, uncertainty and sharpness."""

from flatviz.lazy import lazy

__getattr__, __dir__, __all__ = lazy(
    __name__,
    {
        "prediction": "predict predict_linearised",
        "averaging": "fit_temperature scale_temperature",
        "scores": (
            "accuracy ace auroc balanced_accuracy brier class_ece ece nll recall reliability"
            " risk_coverage score weighted_nll"
        ),
        "regression": (
            "coverage crps fit_deviation interval_width pit predictive_std"
            " quantile_calibration_error scale_deviation"
        ),
        "uncertainty": (
            "agreement aleatoric_entropy disagreement energy max_logit mutual_information"
            " ood_scores predictive_entropy total_variation"
        ),
        "bounds": "flat_bound pac_bayes_bound",
        "curvature": "learning_coefficient sharpness weyl_bounds",
    },
)
