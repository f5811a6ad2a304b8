"""Thin commands, no logic. Nothing heavy is imported before a command runs."""
