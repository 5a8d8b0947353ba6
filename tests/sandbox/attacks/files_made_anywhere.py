# EXITED
import tempfile
NAME = outside["token"]
for folder in (".", "/", "/tmp", "/dev/shm", "/var/tmp", "/run", "/root", "/mnt", "/proc/self/cwd", outside["folder"]):
    path = os.path.join(folder, NAME)
    also = (errno.ENOENT,)
    refused(os.open, path, os.O_WRONLY | os.O_CREAT, also=also)
    refused(os.open, path, os.O_RDWR | os.O_CREAT | os.O_EXCL, also=also)
    refused(os.open, folder, os.O_TMPFILE | os.O_RDWR, also=also)
    refused(os.mkdir, path, also=also)
    refused(os.mkfifo, path, also=also)
    refused(os.mknod, path, also=also)
    refused(os.symlink, "/etc/passwd", path, also=also)
    refused(call, 85, ctypes.create_string_buffer(path.encode()), 0o600, also=also)  # creat
try:
    tempfile.TemporaryFile()
    raise AssertionError("a temporary file")
except OSError as error:
    assert "temporary" in str(error) or error.errno in REFUSALS, error
print("held")
