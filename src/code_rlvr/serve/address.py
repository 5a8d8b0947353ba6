"""Who may reach the server: its address and its token.

An address that others can reach needs a token, because whoever reaches the server makes this machine compute.

Covered: the rules, and the socket.  Not covered: encryption; put a proxy or a tunnel in front.
"""

from __future__ import annotations

import ipaddress
import os
import socket
from pathlib import Path

from code_rlvr.errors import ConfigError, PreflightError
from code_rlvr.wire import TOKEN_VARIABLE

TOKEN_CHARS = 16


def read_token(token_file: Path | None, host: str) -> str:
    """What clients have to show; "" if nothing.

    Args:
        token_file: Its first line is the token; the environment's `CODE_RLVR_TOKEN` if None.
        host: Where the server is to listen.

    Raises:
        ConfigError: It cannot be read, is too short, or others could reach the server without one.
    """
    token = os.environ.get(TOKEN_VARIABLE, "").strip()
    if token_file is not None:
        try:
            token = (token_file.read_text(encoding="ascii").splitlines() or [""])[0].strip()
        except (OSError, UnicodeDecodeError) as error:
            raise ConfigError(f"cannot read a token from {token_file}: {error}") from None
    if (token or token_file) and (len(token) < TOKEN_CHARS or not token.isascii()):
        raise ConfigError(
            f"the token needs {TOKEN_CHARS} ASCII characters or more; make one with: openssl rand -hex 16"
        )
    if not token and not all(ipaddress.ip_address(address).is_loopback for address in _addresses(host)):
        raise ConfigError(
            f"others could reach {host} and make this machine run programs: set {TOKEN_VARIABLE} or give "
            f"--token-file, or listen on 127.0.0.1"
        )
    return token


def listening_socket(host: str, port: int) -> socket.socket:
    """A socket that listens; port 0 is any that is free.

    Raises:
        ConfigError: The host is none.
        PreflightError: The port is taken, or may not be used.
    """
    address = _addresses(host)[0]
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    try:
        return socket.create_server((address, port), family=family, backlog=512)
    except OSError as error:
        raise PreflightError(
            f"cannot listen on {host}:{port}: {error.strerror}; choose another with --port, 0 is any that is free"
        ) from None


def url_of(listener: socket.socket) -> str:
    """Where a socket listens, as clients write it."""
    host, port = listener.getsockname()[:2]
    return f"http://{f'[{host}]' if ':' in host else host}:{port}"


def _addresses(host: str) -> list[str]:
    try:
        return [str(found[4][0]) for found in socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)]
    except OSError as error:
        raise ConfigError(f"{host!r} is no address: {error.strerror}") from None
