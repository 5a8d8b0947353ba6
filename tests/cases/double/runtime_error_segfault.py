import ctypes

print(2 * int(input()), flush=True)
ctypes.string_at(0)
