"""The scene -> FLVER models: what Blender holds is read, compared with what it held, and made into records."""
