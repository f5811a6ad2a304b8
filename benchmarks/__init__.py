"""Experiments and measurements; see `grid.py` for how to run one."""
