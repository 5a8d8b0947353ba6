# EXITED
# Standard input is a file of the judge's or the guard's: it may be written to, but not grow.
import fcntl
grown = os.fstat(0).st_size
try:
    for _ in range(200):
        grown += os.write(0, b"x" * (1 << 20))
except OSError as error:
    assert error.errno in (errno.EFBIG, errno.EBADF, errno.EPERM)
assert os.fstat(0).st_size <= 2 << 20
print("held")
