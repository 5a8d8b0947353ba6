# EXITED
for deed in (os.setuid, os.setgid, os.seteuid, os.setegid):
    refused(deed, 0)
refused(os.setresuid, 0, 0, 0)
refused(os.setgroups, [0])
refused(os.initgroups, "root", 0, also=(errno.EINVAL,))
header = (ctypes.c_uint32 * 2)(0x20080522, 0)
refused(call, 126, header, (ctypes.c_uint32 * 6)(*[0xFFFFFFFF] * 6))
for flags in (0x10000000, 0x20000, 0x40000000, 0x20000000, 0x400, 0x80):
    refused(call, 272, flags)
refused(call, 308, 0, 0)
print("held")
