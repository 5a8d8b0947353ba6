# EXITED
import socket
opened = 0
try:
    while opened < 10_000:
        os.dup(0)
        opened += 1
except OSError as error:
    assert error.errno == errno.EMFILE
assert opened < 100
os.closerange(4, 1000)
pairs = []
try:
    while len(pairs) < 10_000:
        pairs.append(os.pipe())
except OSError as error:
    assert error.errno == errno.EMFILE
print("held")
