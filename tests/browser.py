"""Pages in a real browser, headless and in a profile of their own."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

from PIL import Image

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--hide-scrollbars",
    "--virtual-time-budget=8000",
]


def browse(tmp_path: Path, page: Path, *options: str, dark: bool) -> str:
    """Open the page in a fresh profile; return what the browser prints."""
    assert CHROMIUM is not None
    scheme = f"--blink-settings=preferredColorScheme={0 if dark else 1}"
    command = [CHROMIUM, *FLAGS, scheme, f"--user-data-dir={tmp_path / 'profile'}", *options, page.as_uri()]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=True).stdout


def take_picture(tmp_path: Path, page: Path, width: int, height: int, *, dark: bool) -> Image.Image:
    file = tmp_path / "page.png"
    browse(tmp_path, page, f"--screenshot={file}", f"--window-size={width},{height}", dark=dark)
    return Image.open(file).convert("RGB")


def colours(picture: Image.Image, box: tuple[int, int, int, int] | None = None) -> set[tuple[int, ...]]:
    part = picture.crop(box) if box else picture
    return {colour for _, colour in part.getcolors(maxcolors=part.width * part.height)}
