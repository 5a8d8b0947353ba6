# EXITED
import gc
text = repr(dict(os.environ)) + repr(sys.argv) + repr(sys.orig_argv)
libc.getenv.restype = ctypes.c_char_p
assert libc.getenv(b"PLANTED_KEY") is None
end = ctypes.c_void_p.in_dll(libc, "environ")
entries, i = ctypes.cast(end.value, ctypes.POINTER(ctypes.c_char_p)), 0
while entries and entries[i]:
    text += repr(entries[i])
    i += 1
assert outside["token"] not in text
found = [value for value in gc.get_objects() if isinstance(value, dict) and "PLANTED_KEY" in value]
assert found == []
print("held")
