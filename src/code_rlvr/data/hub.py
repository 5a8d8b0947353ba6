"""Data sets on the Hugging Face hub, read where they are: only the columns and row groups that are wanted travel.

Whatever revision is asked for, it is turned into a commit first and all files are read at that commit, so that a
manifest that names it names exactly what was read.

Covered: finding the files of a data set, opening them as streams.
Not covered: rows (`rows`), their layout (`sources`).
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import PurePosixPath
from typing import IO, Any

from code_rlvr.data.rows import DataFile
from code_rlvr.errors import DataError, PreflightError

# Short names for the data sets that the layouts in `sources` were written for.
KNOWN = {
    "eurus": "PRIME-RL/Eurus-2-RL-Data",
    "apps": "codeparrot/apps",
    "taco": "BAAI/TACO",
    "codecontests": "deepmind/code_contests",
    "humaneval": "openai/openai_humaneval",
    "mbpp": "google-research-datasets/mbpp",
    "livecodebench": "livecodebench/code_generation_lite",
}
_SUFFIXES = (".parquet", ".jsonl", ".jsonl.gz", ".json")
_BLOCK_BYTES = 1 << 20  # larger ones would bring along too much that is then passed over


@dataclass(frozen=True, slots=True)
class HubDataset:
    """The files of a data set at one commit.

    Args:
        name: Owner and name.
        commit: The commit that all of them are of.
        files: In the order of their names.
    """

    name: str
    commit: str
    files: tuple[DataFile, ...]


def open_dataset(name: str, revision: str | None = None, endpoint: str | None = None) -> HubDataset:
    """Find the files of a data set.

    Args:
        name: Owner and name, or a short name of `KNOWN`.
        revision: A branch, a tag or a commit; the newest if None.
        endpoint: The address of the hub; what the environment says, or the public one, if None.

    Raises:
        PreflightError: The hub's library is not installed.
        DataError: There is no such data set or revision, it has no file that can be read, or the hub cannot be reached.
    """
    name = KNOWN.get(name, name)
    try:
        from huggingface_hub import HfApi, HfFileSystem  # noqa: PLC0415  a second to import, and seldom wanted
    except ImportError:
        raise PreflightError("reading from the hub needs its library: pip install 'code-rlvr[data]'") from None
    with _asking(name, revision):
        info = HfApi(endpoint=endpoint).dataset_info(name, revision=revision)
        commit = str(info.sha)
        paths = sorted(one.rfilename for one in info.siblings or [] if one.rfilename.endswith(_SUFFIXES))
        system = HfFileSystem(endpoint=endpoint)
    paths = [path for path in paths if not PurePosixPath(path).name.startswith(("dataset_info", "."))]
    if not paths:
        raise DataError(f"the data set {name} holds no {', '.join(_SUFFIXES)} file; give a local copy instead")
    files = [
        DataFile(
            f"{name}/{path}",
            partial(_open, system, name, f"datasets/{name}@{commit}/{path}"),
            revision=f"commit:{commit}",
            label=path,
        )
        for path in paths
    ]
    return HubDataset(name, commit, tuple(files))


def _open(system: Any, name: str, path: str) -> IO[bytes]:
    with _asking(name, None):
        stream: IO[bytes] = system.open(path, "rb", block_size=_BLOCK_BYTES, cache_type="blockcache")
        return stream


@contextlib.contextmanager
def _asking(name: str, revision: str | None) -> Iterator[None]:
    """Turn what the hub's library raises into one message."""
    import httpx  # noqa: PLC0415  as for the hub's library
    from huggingface_hub.errors import (  # noqa: PLC0415
        GatedRepoError,
        HFValidationError,
        RepositoryNotFoundError,
        RevisionNotFoundError,
    )

    try:
        yield
    except GatedRepoError:
        raise DataError(f"{name} asks for an agreement on its page; give it there, then `hf auth login`") from None
    except RevisionNotFoundError:
        raise DataError(
            f"the data set {name} has no revision {revision}; leave --revision out for the newest"
        ) from None
    except (RepositoryNotFoundError, HFValidationError):
        known = ", ".join(KNOWN)
        raise DataError(f"the hub has no data set {name}; write OWNER/NAME or one of {known}, or give a file") from None
    except (httpx.HTTPError, OSError) as error:
        raise DataError(
            f"the hub cannot be reached for {name} ({type(error).__name__}: {error}); try again, "
            "or fetch the files elsewhere and give their folder"
        ) from None
