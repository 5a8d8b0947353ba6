"""Presets of training runs, as TOML files: see `train.presets`."""
