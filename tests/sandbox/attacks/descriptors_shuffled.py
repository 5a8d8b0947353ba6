# EXITED
# All of them made one file, then standard output moved away and back.
copy = os.dup(1)
for fd in range(3, 20):
    if fd != copy:
        os.dup2(copy, fd)
os.close(1)
os.dup2(copy, 1)
os.dup2(1, 0)
os.dup2(1, 2)
print("held")
sys.stdout.flush()
os.closerange(3, 64)
