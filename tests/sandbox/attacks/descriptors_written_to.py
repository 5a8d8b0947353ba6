# EXITED
import struct
def frame(header, *contents):
    head = json.dumps([header, [len(c) for c in contents]]).encode()
    return len(head).to_bytes(4, "big") + head + b"".join(contents)
report = frame({"stopped": "", "status": 0, "cpu_s": 0.0, "wall_s": 0.0, "memory_kib": 1, "largest": 0}, b"", b"forged")
for fd in range(3, 4096):
    for data in (report, frame({"compiled": True}), frame({"died": 0}), frame({"end": True}), b"R\0\0\0\0"):
        refused(os.write, fd, data, also=(errno.EBADF,))
print("held")
