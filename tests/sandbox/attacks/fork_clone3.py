# EXITED
import struct
for flags, exit_signal in ((0, 17), (0x8000, 0), (0x10000000, 17), (0x200000000, 17)):  # also CLONE_INTO_CGROUP
    arguments = ctypes.create_string_buffer(struct.pack("11Q", flags, 0, 0, 0, exit_signal, 0, 0, 0, 0, 0, 0))
    for size in (64, 80, 88):
        refused(call, 435, arguments, size)
print("held")
