"""verl's store, in which samples that end together are put together.

A put is several messages to two processes, and verl makes one for each sample and two more for each prompt.  Here what
is put while an earlier put is under way waits for that one's end, and then goes in one.

Covered: `async_kv_batch_put` of samples and `async_kv_put` of a prompt's tag, as verl's agent loop calls them; a call
returns when what it puts is stored.  Not covered: anything else, which goes to the store as it is.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any

from verl.utils.tensordict_utils import list_of_dict_to_tensordict

Item = tuple[Any, ...]
Send = Callable[[list[Item]], Awaitable[None]]


class Gathering:
    """Sends items in lists, one list at a time.

    Args:
        send: Gets all items that came while the list before was under way.
    """

    def __init__(self, send: Send) -> None:
        self._send = send
        self._waiting: list[tuple[list[Item], asyncio.Future[None]]] = []
        self._sending: asyncio.Task[None] | None = None

    async def put(self, items: list[Item]) -> None:
        """Return when the items were sent; raise what the sending of their list raised."""
        sent: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append((items, sent))
        if self._sending is None or self._sending.done():
            self._sending = asyncio.create_task(self._send_waiting())
        await sent

    async def _send_waiting(self) -> None:
        while self._waiting:
            taken, self._waiting = self._waiting, []
            items = [item for some, _ in taken for item in some]
            (failure,) = await asyncio.gather(self._send(items), return_exceptions=True)
            for sent in (sent for _, sent in taken if not sent.done()):  # done is one whose caller has gone
                if isinstance(failure, BaseException):
                    sent.set_exception(failure)
                else:
                    sent.set_result(None)


class GatheredStore:
    """The store as verl's agent loop uses it.

    Args:
        store: The package `transfer_queue`, or what has its functions.
    """

    def __init__(self, store: Any) -> None:
        self._store = store
        self._gatherings: dict[tuple[str, str], Gathering] = {}

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    async def async_kv_batch_put(
        self, *, keys: list[str], fields: list[dict[str, Any]], tags: list[dict[str, Any]], partition_id: str
    ) -> None:
        """Store samples: their keys, fields and tags, in this order; fields are not made tensors yet."""
        await self._gathering(self._put_samples, partition_id).put(list(zip(keys, fields, tags, strict=True)))

    async def async_kv_put(self, *, key: str, tag: dict[str, Any], partition_id: str) -> None:
        """Store the tag of a prompt."""
        await self._gathering(self._put_tags, partition_id).put([(key, tag)])

    def _gathering(self, put: Callable[[str, list[Item]], Awaitable[None]], partition_id: str) -> Gathering:
        return self._gatherings.setdefault((put.__name__, partition_id), Gathering(partial(put, partition_id)))

    async def _put_samples(self, partition_id: str, items: list[Item]) -> None:
        alike = defaultdict(list)
        for item in items:
            alike[tuple(item[1])].append(item)
        for group in alike.values():
            keys, fields, tags = (list(column) for column in zip(*group, strict=True))
            columns = list_of_dict_to_tensordict(fields)
            await self._store.async_kv_batch_put(keys=keys, fields=columns, tags=tags, partition_id=partition_id)

    async def _put_tags(self, partition_id: str, items: list[Item]) -> None:
        keys, tags = (list(column) for column in zip(*items, strict=True))
        await self._store.async_kv_batch_put(keys=keys, tags=tags, partition_id=partition_id)
