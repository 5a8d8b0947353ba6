# EXITED
# Landlock does not hide that a file is there: this is known, and writes down how far it goes.
about = os.stat(outside["file"]) if os.path.exists(outside["file"]) else None
refused(open, outside["file"], also=(errno.ENOENT,))
refused(os.getxattr, outside["file"], "user.x", also=(errno.ENOENT,))
refused(os.listxattr, outside["file"], also=(errno.ENOENT,))
refused(os.statvfs, outside["folder"], also=(errno.ENOENT,))
print("held")
