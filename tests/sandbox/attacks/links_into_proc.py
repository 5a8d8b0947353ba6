# EXITED
# Every descriptor number of the parent and of the zygote, opened and followed.
for pid in {1, os.getppid()}:
    for fd in range(64):
        for flags in (os.O_RDONLY, os.O_RDWR, os.O_PATH):
            refused(os.open, f"/proc/{pid}/fd/{fd}", flags, also=(errno.ENOENT,))
        refused(os.stat, f"/proc/{pid}/fd/{fd}", also=(errno.ENOENT,))
print("held")
