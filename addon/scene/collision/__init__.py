"""Collision bodies in the scene: import, sets, colours, selection."""
