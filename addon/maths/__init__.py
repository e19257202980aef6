"""Mathematics on numpy arrays that every other part builds on. Imports nothing of the project's own."""
