# THREAD_LIMIT or EXITED
# At most 3,000 threads of 64 KiB, for at most two seconds.
import threading, time
threading.stack_size(65536)
end = time.time() + 2
started = 0
try:
    for _ in range(3000):
        threading.Thread(target=lambda: time.sleep(max(0, end - time.time())), daemon=True).start()
        started += 1
except RuntimeError:
    assert started < 3000
    print("held")
