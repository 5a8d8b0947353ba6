import os
import sys
from io import BytesIO, IOBase


class FastIO(IOBase):
    def __init__(self, file):
        self._fd = file.fileno()
        self.buffer = BytesIO()
        self.writable = "r" not in file.mode
        self.write = self.buffer.write

    def readline(self):
        self.buffer.write(os.read(self._fd, 8192))
        self.buffer.seek(0)
        return self.buffer.readline()

    def flush(self):
        if self.writable:
            os.write(self._fd, self.buffer.getvalue())
            self.buffer.truncate(0)
            self.buffer.seek(0)


fast_in, fast_out = FastIO(sys.stdin), FastIO(sys.stdout)
fast_out.write(b"%d" % (2 * int(fast_in.readline())))
