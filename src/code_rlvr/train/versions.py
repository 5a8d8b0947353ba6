"""The one version of verl that this package drives, and what else has to fit it.

Covered: verl itself; torch, transformers and vLLM against what was tried and against verl's own bounds.  Not covered:
whether they import; that takes seconds, and the trainer says it.
"""

from __future__ import annotations

import platform
from importlib import metadata
from typing import Literal

from code_rlvr.errors import VersionMismatch

PINNED_VERL = "0.9.1"
"""Overrides, sampler and patches reach into verl; they were written for, and tested with, this version."""

TRIED = {
    "cpu": {"torch": "2.13", "transformers": "5.9"},
    "cuda": {"torch": "2.11", "transformers": "5.9", "vllm": "0.24"},
}
"""Series of each library with which runs were seen to work, by device; torch of any build, as 2.11.0+cu130 is."""


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


def check_companions(device: Literal["cpu", "cuda"], engine: Literal["hf", "vllm"]) -> str:
    """Refuse libraries that verl cannot work with, by its own bounds.

    Args:
        device, engine: Of the run; vLLM counts only where it samples.

    Returns:
        What is installed, in a sentence that says which of it was never tried with this package.

    Raises:
        VersionMismatch: One is missing, or outside of the versions that verl allows.
    """
    remedy = f"pip install 'code-rlvr[{'gpu' if device == 'cuda' else 'train'}]'"
    found = []
    for name, series in TRIED[device].items():
        if name == "vllm" and engine != "vllm":
            continue
        try:
            installed = metadata.version(name)
        except metadata.PackageNotFoundError:
            raise VersionMismatch(f"{name} is not installed; run: {remedy}") from None
        tried = _allows(f"=={series}.*", installed)
        bounds = _verl_bounds(name, "vllm" if device == "cuda" else "")
        if not tried and not _allows(bounds, installed):
            raise VersionMismatch(
                f"{name} {installed} is installed, but verl {PINNED_VERL} asks for {name}{bounds}; run: {remedy}, "
                f"or: pip install '{name}=={series}.*'"
            )
        found.append(f"{name} {installed}" + ("" if tried else f" (not tried, {series} was)"))
    return ", ".join(found)


def _verl_bounds(name: str, extra: str) -> str:
    """What verl demands of a library, else what its extra does; empty if neither says anything."""
    from packaging.requirements import Requirement  # noqa: PLC0415  comes with verl

    requirements = [one for one in map(Requirement, metadata.requires("verl") or ()) if one.name == name]
    always = [one for one in requirements if one.marker is None]
    ours = always or [one for one in requirements if extra and one.marker and one.marker.evaluate({"extra": extra})]
    return ",".join(str(one.specifier) for one in ours)


def _allows(bounds: str, version: str) -> bool:
    from packaging.specifiers import SpecifierSet  # noqa: PLC0415  comes with verl

    return SpecifierSet(bounds).contains(version, prereleases=True)


def installed_versions() -> dict[str, str]:
    """Return the versions that a run's numbers depend on, by distribution; "absent" where one is not installed."""
    versions = {"python": platform.python_version()}
    for name in ("code-rlvr", "verl", "torch", "transformers", "ray", "vllm"):
        try:
            versions[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            versions[name] = "absent"
    return versions
