"""Empties the working directory of a program, whatever the program did to it.

Covered: depth beyond any recursion or path length, folders without permissions, links.
Not covered: what a program wrote elsewhere (the file system layer's work).
"""

from __future__ import annotations

import contextlib
import os

_OPEN = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW


def empty_folder(folder: str) -> None:
    """Remove everything in a folder; walks by descriptors, one open at a time.

    Raises:
        OSError: If something cannot be removed.
    """
    os.chmod(folder, 0o700)
    fd = os.open(folder, _OPEN)
    try:
        left = [_remove_files(fd)]  # the folders that are left to remove, level by level
        while left[0]:
            if left[-1]:
                os.chmod(left[-1][-1], 0o700, dir_fd=fd)
                fd = _moved(fd, left[-1][-1])
                left.append(_remove_files(fd))
            else:
                left.pop()
                fd = _moved(fd, "..")
                os.rmdir(left[-1].pop(), dir_fd=fd)
    finally:
        os.close(fd)


def _moved(fd: int, name: str) -> int:
    other = os.open(name, _OPEN, dir_fd=fd)
    os.close(fd)
    return other


def _remove_files(fd: int) -> list[str]:
    """Remove what is not a folder; the names of the folders."""
    with os.scandir(fd) as entries:
        found = [(entry.name, entry.is_dir(follow_symlinks=False)) for entry in entries]
    for name, is_folder in found:
        if not is_folder:
            os.unlink(name, dir_fd=fd)
    return [name for name, is_folder in found if is_folder]


def remove_folder(folder: str) -> None:
    """Remove a folder with everything in it, as far as that is possible."""
    with contextlib.suppress(OSError):
        empty_folder(folder)
        os.rmdir(folder)
