"""Edits of cloth: functions from a cloth file to a cloth file, in plain numpy.

What an edit does not touch stays the same record, bit for bit. An edited file can at once be checked, stepped
(`build_setup`) and stored (`codec.havok.cloth.storing`).
"""
