# WALL_LIMIT
# The first thread ends by the bare system call, and another stays.
import threading, time
threading.Thread(target=time.sleep, args=(60,), daemon=True).start()
call(60, 0)
