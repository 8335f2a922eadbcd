"""Planes and directions of weight space."""
