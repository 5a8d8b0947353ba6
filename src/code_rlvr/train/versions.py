"""The one version of verl that this package drives, and what else is installed."""

from __future__ import annotations

import platform
from importlib import metadata

from code_rlvr.errors import VersionMismatch

PINNED_VERL = "0.9.1"
"""Overrides, sampler and patches reach into verl; they were written for, and tested with, this version."""


def check_verl() -> None:
    """Refuse any verl but the pinned one.

    Raises:
        VersionMismatch: Another version is installed, or none.
    """
    try:
        installed = metadata.version("verl")
    except metadata.PackageNotFoundError:
        raise VersionMismatch("verl is not installed; run: pip install 'code-rlvr[train]'") from None
    if installed != PINNED_VERL:
        raise VersionMismatch(
            f"verl {installed} is installed, but this package was written for verl {PINNED_VERL}; "
            f"run: pip install verl=={PINNED_VERL}"
        )


def installed_versions() -> dict[str, str]:
    """Return the versions that a run's numbers depend on, by distribution; "absent" where one is not installed."""
    versions = {"python": platform.python_version()}
    for name in ("code-rlvr", "verl", "torch", "transformers", "ray", "vllm"):
        try:
            versions[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            versions[name] = "absent"
    return versions
