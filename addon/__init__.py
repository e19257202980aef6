"""Ossuary: FLVER models, Havok collision and Havok cloth of Sekiro and Elden Ring in Blender."""
