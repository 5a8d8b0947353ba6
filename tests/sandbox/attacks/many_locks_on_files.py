# EXITED
import fcntl
null = os.open("/dev/null", os.O_RDWR)
for i in range(2000):
    fcntl.lockf(null, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, 2 * i)
print("held")
