"""Panels, menus, overlays, icons and preferences."""
