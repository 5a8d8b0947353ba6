# SIGNALED SIGSYS
# int 0x80: kill(sentinel, 0), which would do nothing to it.
import mmap, struct
area = mmap.mmap(-1, 4096, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, prot=7)
code = b"\x53\xb8\x25\x00\x00\x00\xbb" + struct.pack("I", outside["sentinel"]) + bytes.fromhex("b900000000cd805bc3")
area.write(code)
address = ctypes.addressof(ctypes.c_char.from_buffer(area))
print(ctypes.CFUNCTYPE(ctypes.c_int)(address)(), flush=True)
