# EXITED
import struct
code = struct.pack("HBBI", 6, 0, 0, 0x7FFF0000)
buffer = ctypes.create_string_buffer(code)
program = ctypes.create_string_buffer(struct.pack("HxxxxxxP", 1, ctypes.addressof(buffer)))
for flags in (0, 1, 2, 4, 8, 8 | 16):  # TSYNC, LOG, SPEC_ALLOW, NEW_LISTENER
    refused(call, 317, 1, flags, program)
refused(call, 317, 0, 0, 0)
refused(call, 317, 2, 0, ctypes.create_string_buffer(4))
refused(call, 157, 22, 2, program, 0, 0)
for number in (444, 445, 446):
    refused(call, number, 0, 0, 1, 0)
print("held")
