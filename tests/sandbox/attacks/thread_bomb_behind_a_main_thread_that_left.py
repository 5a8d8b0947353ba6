# THREAD_LIMIT
# The first thread ends by the bare system call; another starts at most 1,000 threads of 64 KiB, for two seconds.
import threading, time
threading.stack_size(65536)
def bomb():
    time.sleep(0.1)
    for _ in range(1000):
        threading.Thread(target=time.sleep, args=(2,), daemon=True).start()
    time.sleep(2)
    os._exit(3)
threading.Thread(target=bomb, daemon=True).start()
call(60, 0)
