"""Connections from the moment they are accepted: counted by address before the TLS handshake, so that nobody can hold
them all by shaking hands slowly, and let go of when they say nothing.
"""

from __future__ import annotations

import asyncio
import errno
import ipaddress
import socket
import ssl
from collections import Counter
from typing import Any

from aiohttp.web_protocol import RequestHandler
from aiohttp.web_server import Server

from webhook.server.logs import LOGGER

HEAD_SECONDS = 10.0  # a connection that has not finished its handshake, or sent a request's head, by then is closed
KEEP_ALIVE_SECONDS = 120.0  # longer than Go's 90 s, so that the client closes first and no request crosses our close
ACCEPT_AGAIN_SECONDS = 1.0
BACKLOG = 1024
_NO_SUCH_FAMILY = (errno.EAFNOSUPPORT, errno.EADDRNOTAVAIL)  # as where IPv6 is switched off
LINGER_SECONDS = 2.0  # how long the rest of a refused body is read, so that its sender gets to see the refusal


class HttpConnections(Server):
    """aiohttp's keeper of connections, which also lets go of clients that say nothing, and of those that are one too
    many: of all, or of one address."""

    def __init__(self, handler: Any, most: int, most_of_an_address: int) -> None:
        super().__init__(
            handler,
            handler_cancellation=True,  # a client that goes away frees its worker
            access_log=None,
            auto_decompress=False,  # bodies are unpacked under our own limit
            keepalive_timeout=KEEP_ALIVE_SECONDS,
            lingering_time=LINGER_SECONDS,
        )
        self._most = most
        self._most_of_an_address = most_of_an_address
        self._peers: dict[RequestHandler, str] = {}
        self._of_peer: Counter[str] = Counter()
        self.spoke: set[RequestHandler] = set()  # of which a request's head has come
        self._handshakes: set[asyncio.Task[None]] = set()

    def accept(self, listening: socket.socket, tls: ssl.SSLContext | None) -> None:
        """Take every connection that waits at the listening socket."""
        while True:
            try:
                accepted, peername = listening.accept()
            except (BlockingIOError, InterruptedError, ConnectionAbortedError):
                return
            except OSError as error:  # no descriptor left, or no memory: those who have a connection go on
                LOGGER.warning("connections wait, because none can be accepted", extra={"reason": error.strerror})
                self._loop.remove_reader(listening)
                self._loop.call_later(ACCEPT_AGAIN_SECONDS, self.listen, listening, tls)
                return
            peer = peer_of(peername)
            if self._of_peer.total() >= self._most or self._of_peer[peer] >= self._most_of_an_address:
                accepted.close()
                continue
            self._of_peer[peer] += 1
            handshake = self._loop.create_task(self._welcome(accepted, tls, peer))
            self._handshakes.add(handshake)
            handshake.add_done_callback(self._handshakes.discard)

    def listen(self, listening: socket.socket, tls: ssl.SSLContext | None) -> None:
        """Accept from now on, until the socket is closed."""
        if listening.fileno() >= 0:
            self._loop.add_reader(listening, self.accept, listening, tls)

    async def _welcome(self, accepted: socket.socket, tls: ssl.SSLContext | None, peer: str) -> None:
        """Have a handler serve it, once the handshake is over."""
        handler = self._begin(peer)
        seconds = HEAD_SECONDS if tls else None
        try:
            await self._loop.connect_accepted_socket(lambda: handler, accepted, ssl=tls, ssl_handshake_timeout=seconds)
        except BaseException as error:
            self._leave(handler)
            accepted.close()
            if not isinstance(error, OSError):  # else the caller went away, was too slow or spoke no TLS
                raise

    def _begin(self, peer: str) -> RequestHandler:
        handler = self()
        self._peers[handler] = peer
        return handler

    def connection_made(self, handler: RequestHandler, transport: asyncio.Transport) -> None:
        super().connection_made(handler, transport)
        self._loop.call_later(HEAD_SECONDS, self._hang_up_if_silent, handler)

    def connection_lost(self, handler: RequestHandler, exc: BaseException | None = None) -> None:
        self._leave(handler)
        super().connection_lost(handler, exc)

    def _leave(self, handler: RequestHandler) -> None:
        self.spoke.discard(handler)
        peer = self._peers.pop(handler, None)
        if peer is not None:
            self._of_peer[peer] -= 1
            if not self._of_peer[peer]:
                del self._of_peer[peer]

    def pre_shutdown(self) -> None:
        for handshake in self._handshakes:
            handshake.cancel()
        super().pre_shutdown()

    def _hang_up_if_silent(self, connection: RequestHandler) -> None:
        if connection not in self.spoke:
            connection.force_close()


async def listening_sockets(host: str, port: int, *, share: bool) -> list[socket.socket]:
    """Bound and listening, one for each address that the host has; `::` stands for every address of this machine."""
    loop = asyncio.get_running_loop()
    found = await loop.getaddrinfo(
        None if host == "::" else host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
    )
    opened: list[socket.socket] = []
    missing: OSError | None = None
    for family, address in dict.fromkeys((family, address) for family, _, _, _, address in found):
        try:
            opened.append(socket.create_server(address[:2], family=family, backlog=BACKLOG, reuse_port=share))
        except OSError as error:
            missing = error
            if error.errno not in _NO_SUCH_FAMILY:
                break
    if missing is not None and (not opened or missing.errno not in _NO_SUCH_FAMILY):
        for listening in opened:
            listening.close()
        raise missing
    for listening in opened:
        listening.setblocking(False)
    return opened


def peer_of(peername: Any) -> str:
    """What connections are counted by: the address, of IPv6 the half that a network is given as a whole.

    >>> peer_of(("10.0.0.7", 4711)), peer_of(("2001:db8::7:8:9", 4711, 0, 0)), peer_of(("::ffff:10.0.0.7", 4711, 0, 0))
    ('10.0.0.7', '2001:db8::/64', '10.0.0.7')
    """
    host = str(peername[0]).partition("%")[0] if peername else ""
    if ":" not in host:
        return host
    address = ipaddress.IPv6Address(host)
    if address.ipv4_mapped is not None:
        return str(address.ipv4_mapped)
    return str(ipaddress.ip_network((host, 64), strict=False))
