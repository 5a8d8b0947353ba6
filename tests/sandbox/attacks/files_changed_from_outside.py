# EXITED
path, folder = outside["file"], outside["folder"]
there = os.path.join(folder, "other")
for flags in (os.O_WRONLY, os.O_RDWR, os.O_WRONLY | os.O_APPEND, os.O_RDONLY | os.O_TRUNC, os.O_WRONLY | os.O_TRUNC):
    refused(os.open, path, flags)
refused(os.truncate, path, 0)
refused(os.unlink, path)
refused(os.rename, path, there)
refused(os.replace, path, there)
refused(os.link, path, there)
refused(os.chmod, path, 0o777)
refused(os.chmod, folder, 0)
refused(os.chown, path, 0, 0)
refused(os.lchown, path, 1, 1)
refused(os.utime, path, (0, 0))
refused(os.setxattr, path, "user.x", b"y")
refused(os.removexattr, path, "user.x")
refused(os.rmdir, folder)
refused(os.mkdir, there)
for pair in ((os.path.join(folder, "link"), there), (os.path.join(folder, "loop"), there)):
    refused(os.open, pair[0], os.O_WRONLY, also=(errno.ENOENT, errno.ELOOP))
print("held")
