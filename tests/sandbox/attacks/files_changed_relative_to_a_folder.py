# EXITED
# A folder may be entered, and so may one that was opened as a path only; neither gives a right to what is in it.
folder = os.open(outside["folder"], os.O_PATH)
refused(os.open, "file", os.O_RDONLY, dir_fd=folder)
refused(os.open, "file", os.O_WRONLY, dir_fd=folder)
refused(os.unlink, "file", dir_fd=folder)
refused(os.mkdir, "other", dir_fd=folder)
refused(os.chmod, "file", 0o777, dir_fd=folder)
refused(os.listdir, f"/proc/self/fd/{folder}")
refused(os.open, f"/proc/self/fd/{folder}/file", os.O_RDONLY)
file = os.open(outside["file"], os.O_PATH)
refused(os.open, f"/proc/self/fd/{file}", os.O_RDONLY)
refused(os.open, f"/dev/fd/{file}", os.O_RDWR)
refused(os.pread, file, 10, 0, also=(errno.EBADF,))
try:
    os.chdir(outside["folder"])
except OSError:
    pass
refused(os.open, "file", os.O_RDONLY, also=(errno.ENOENT,))
refused(os.open, "file", os.O_WRONLY, also=(errno.ENOENT,))
try:
    os.fchdir(folder)
except OSError:
    pass
refused(open, "file", "w", also=(errno.ENOENT,))
refused(os.chroot, ".")
print("held")
