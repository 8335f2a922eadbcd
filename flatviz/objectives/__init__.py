"""Scalar functions of a network's weights, with their values, gradients and curvature."""
