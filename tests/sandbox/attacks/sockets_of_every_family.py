# EXITED
import socket
for family in range(46):
    for kind in (1, 2, 3, 5):
        refused(call, 41, family, kind, 0)
    if family != socket.AF_UNIX:
        refused(call, 53, family, 1, 0, ctypes.create_string_buffer(8))
refused(socket.socket)
refused(socket.create_connection, ("127.0.0.1", outside["tcp"]), 1)
refused(socket.create_server, ("127.0.0.1", 0))
refused(socket.getaddrinfo, "localhost", 80, also=(socket.EAI_NONAME, socket.EAI_AGAIN, socket.EAI_SYSTEM, -2, -3, -11))
print("held")
