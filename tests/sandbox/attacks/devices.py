# EXITED
for path in ("/dev/vda", "/dev/mem", "/dev/kmsg", "/dev/tty", "/dev/ptmx", "/dev/console", "/dev/fuse", "/dev/kvm",
             "/dev/net/tun", "/dev/loop-control", "/dev/mapper/control", "/dev/pts/0", "/dev/shm/x", "/dev/log"):
    refused(os.open, path, os.O_RDONLY, also=(errno.ENOENT, errno.ENXIO))
    refused(os.open, path, os.O_RDWR, also=(errno.ENOENT, errno.ENXIO))
for path in ("/dev/zero", "/dev/urandom", "/dev/random"):
    refused(os.open, path, os.O_WRONLY)
print("held")
