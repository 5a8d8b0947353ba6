"""Whether Ray can start here, or the cluster that is named answers.

Covered: a port on the loopback address, the address of a cluster; bounded in time.  Not covered: whether the cluster
has the GPUs that are asked for; verl says that when it starts.
"""

from __future__ import annotations

import socket
import subprocess
import sys

from code_rlvr.errors import PreflightError

CONNECT_S = 5.0
CLUSTER_S = 30.0
"""Longest wait for a cluster's answer, in which a few seconds are Ray's imports."""

LOCALHOST = "127.0.0.1"


def check_ray(address: str | None) -> str:
    """Check that Ray can start, or that the cluster at `address` answers.

    Args:
        address: `auto`, ``host:port``, ``ray://host:port``, or None for a cluster of this machine alone.

    Returns:
        What was found, in a sentence.

    Raises:
        PreflightError: No port can be bound, or no cluster answers.
    """
    check_ports()
    if address is None:
        return "ports can be bound; Ray is started for this run"
    if address != "auto":
        _connect(address)
    _join(address)
    return f"the cluster at {address} answers"


def check_ports() -> None:
    """Check that a port of the loopback address can be bound and reached, as Ray's processes do.

    Raises:
        PreflightError: It cannot.
    """
    try:
        with socket.socket() as listening:
            listening.bind((LOCALHOST, 0))
            listening.listen(1)
            with socket.create_connection(listening.getsockname(), CONNECT_S):
                pass
    except OSError as error:
        raise PreflightError(
            f"no port of {LOCALHOST} can be bound and reached ({error}), but Ray's processes talk through such ports; "
            "allow the loopback device in this container or sandbox"
        ) from None


def _connect(address: str) -> None:
    host, _, port = address.removeprefix("ray://").rpartition(":")
    if not host or not port.isdigit():
        raise PreflightError(
            f"trainer.ray_address={address} is no address; write auto, or host:port as `ray start` shows"
        )
    try:
        with socket.create_connection((host, int(port)), CONNECT_S):
            pass
    except OSError as error:
        raise PreflightError(
            f"nothing answers at trainer.ray_address={address} ({error}); start Ray there (ray start --head), or leave "
            "trainer.ray_address out for a cluster of this machine alone"
        ) from None


def _join(address: str) -> None:
    """Join the cluster and leave it, in a process of its own, by the call with which verl joins it."""
    command = [sys.executable, "-c", "import ray, sys; ray.init(sys.argv[1], log_to_driver=False)", address]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=CLUSTER_S)
    except subprocess.TimeoutExpired:
        raise PreflightError(
            f"what listens at trainer.ray_address={address} does not answer as a Ray cluster within {CLUSTER_S:.0f} s; "
            "check the address, which `ray start` shows"
        ) from None
    if done.returncode:
        last = (done.stderr.strip() or done.stdout.strip() or "no message").splitlines()[-1][:300]
        raise PreflightError(
            f"no Ray cluster can be used at trainer.ray_address={address} ({last}); start one with ray start --head, "
            "or leave trainer.ray_address out for a cluster of this machine alone"
        )
