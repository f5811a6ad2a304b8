"""Experiments and measurements; `jointmatch benchmark run FILE` runs one."""
