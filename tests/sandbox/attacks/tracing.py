# EXITED
import struct
for pid in (os.getppid(), outside["sentinel"]):
    for request in (16, 0x4206, 1, 4, 12):  # ATTACH SEIZE PEEKTEXT POKETEXT GETREGS
        refused(call, 101, request, pid, 0, 0)
    buffer = ctypes.create_string_buffer(8)
    local = struct.pack("PN", ctypes.addressof(buffer), 8)
    for number in (310, 311):
        refused(call, number, pid, local, 1, local, 1, 0)
    refused(call, 312, OWN, pid, 0, 0, 0)  # kcmp
    refused(call, 440, pid, 0, 0, 21, 0)  # process_madvise
    refused(call, 434, pid, 0)
refused(call, 101, 0, 0, 0, 0)  # TRACEME
refused(call, 438, 0, 0, 0)  # pidfd_getfd
print("held")
