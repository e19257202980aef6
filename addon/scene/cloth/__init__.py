"""Cloth in the scene: what is built, and what plays."""
