# EXITED
import socket, struct
for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM, socket.SOCK_SEQPACKET):
    mine, theirs = socket.socketpair(socket.AF_UNIX, kind)
    for address in (outside["unix"], "\0" + outside["abstract"], "\0" + outside["datagram"]):
        refused(mine.connect, address)
        refused(mine.sendto, b"x", address)
        refused(mine.bind, "\0mine" + outside["token"])
        packed = struct.pack("H", 1) + address.encode() + b"\0"
        refused(call, 44, mine.fileno(), b"x", 1, 0, packed, len(packed))
        refused(call, 42, mine.fileno(), packed, len(packed))
    refused(mine.listen)
    refused(mine.sendmsg, [b"x"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, struct.pack("i", 1))])
    refused(mine.recvmsg, 1)
    refused(mine.setsockopt, socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 30)
    refused(call, 43, mine.fileno(), 0, 0)
    mine.send(b"hello")
    assert theirs.recv(5) == b"hello"
print("held")
