# EXITED
# The same by a bare clone: a thread that shares all but the table of descriptors ends at once if it is made.
import mmap
area = mmap.mmap(-1, 1 << 16, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, prot=7)
area.write(bytes.fromhex("b8380000000f054885c07409c3") + b"\x90" * 9 + bytes.fromhex("31ffb83c0000000f05"))
address = ctypes.addressof(ctypes.c_char.from_buffer(area))
# mov eax, 56; syscall; test rax, rax; jz +9; ret; ...; xor edi, edi; mov eax, 60; syscall
code = bytes.fromhex("4989ca4d31c0b8380000000f054885c07401c331ffb83c0000000f05")
area.seek(0)
area.write(code)
function = ctypes.CFUNCTYPE(ctypes.c_long, ctypes.c_long, ctypes.c_long, ctypes.c_long, ctypes.c_long)(address)
VM, FS, FILES, SIGHAND, THREAD, SYSVSEM = 0x100, 0x200, 0x400, 0x800, 0x10000, 0x40000
stack = address + (1 << 16) - 64
for flags in (VM | FS | SIGHAND | THREAD | SYSVSEM, VM | SIGHAND | THREAD):
    result = function(flags, stack, 0, 0)
    assert -result in REFUSALS, (hex(flags), result)
print("held")
