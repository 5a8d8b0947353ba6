"""From a model's name to its folder: a folder stays what it is, a name on the hub is fetched.

Covered: fetching, with one message when it fails.  Not covered: whether the folder is fit for anything.
"""

from __future__ import annotations

import re
from pathlib import Path

from code_rlvr.errors import ModelError

_HUB_NAME = re.compile(r"[\w.-]+/[\w.-]+")


def local_model(name: str) -> str:
    """The folder of a model, fetched from the hub unless it is one already.

    Args:
        name: A folder, or owner and name; anything that can be neither is given back as it is.

    Raises:
        ModelError: It is empty, or cannot be fetched.
    """
    if not name:
        raise ModelError("no model is named; give a Hugging Face folder, or a name on the hub (model= of a run)")
    if Path(name).exists() or not _HUB_NAME.fullmatch(name):
        return name
    import httpx  # noqa: PLC0415  these take a second to import, and a folder needs neither
    from huggingface_hub import snapshot_download  # noqa: PLC0415
    from huggingface_hub.errors import GatedRepoError, HfHubHTTPError, LocalEntryNotFoundError  # noqa: PLC0415

    try:
        return str(snapshot_download(name))
    except GatedRepoError:
        raise ModelError(f"{name} asks for an agreement on its page; give it there, then `hf auth login`") from None
    except (HfHubHTTPError, LocalEntryNotFoundError, httpx.HTTPError, OSError) as error:
        raise ModelError(
            f"{name} is no folder here and cannot be fetched from the hub ({type(error).__name__}); check the name, "
            "or fetch it elsewhere and give its folder"
        ) from None
