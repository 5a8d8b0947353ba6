# EXITED
# Fifty forks at most, whose children end at once.
import pty
for deed in (os.fork, os.forkpty, pty.fork):
    for _ in range(10):
        refused(deed, also=(None,))  # "out of pty devices" has no number
for function in ("fork", "vfork"):
    def deed():
        result = getattr(libc, function)()
        if result == -1:
            raise OSError(ctypes.get_errno(), "")
        return result
    refused(deed)
refused(call, 57)
print("held")
