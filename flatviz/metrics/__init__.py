"""Predictions and what they are worth: scores, calibration."""
