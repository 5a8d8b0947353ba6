# EXITED
# The call instruction itself, past every wrapper.
import mmap
area = mmap.mmap(-1, 4096, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, prot=7)
address = ctypes.addressof(ctypes.c_char.from_buffer(area))
for number in (57, 58, 56, 59, 435):
    area.seek(0)
    area.write(b"\x31\xff\x31\xf6\x31\xd2\x4d\x31\xd2\x4d\x31\xc0\xb8" + number.to_bytes(4, "little") + b"\x0f\x05\xc3")
    result = ctypes.CFUNCTYPE(ctypes.c_long)(address)()
    if os.getpid() != OWN:
        os._exit(0)
    assert -result in REFUSALS, (number, result)
print("held")
