"""Operators: options, call, report."""
