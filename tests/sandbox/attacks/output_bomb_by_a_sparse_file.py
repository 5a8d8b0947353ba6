# OUTPUT_LIMIT or EXITED
import fcntl
fcntl.fcntl(1, fcntl.F_SETFL, 0)
for size in (1 << 40, 1 << 31, 200 << 20):
    try:
        os.ftruncate(1, size)
    except OSError as error:
        assert error.errno in (errno.EFBIG, errno.EPERM)
try:
    os.pwrite(1, b"x", 1 << 40)
except OSError as error:
    assert error.errno in (errno.EFBIG, errno.EPERM)
assert os.fstat(1).st_size < 2 << 20
try:
    os.posix_fallocate(1, 0, 100 << 20)
except OSError:
    pass
assert os.fstat(1).st_blocks * 512 < 4 << 20
print("held")
