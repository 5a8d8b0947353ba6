# EXITED
# Threads that each have a table of descriptors of their own hold more than one may, and what sockets hold is on
# nobody's account: 500 threads could hold gigabytes.
import socket, threading, time
held = [0]
done = threading.Event()
def hold():
    try:
        call(436, 3, 60, 2)  # close_range with CLOSE_RANGE_UNSHARE
    except OSError:
        return
    ends = []
    try:
        while len(ends) < 40:
            ends += socket.socketpair()
            held[0] += 2
    except OSError:
        pass
    done.wait(5)
threading.stack_size(1 << 17)
threads = [threading.Thread(target=hold) for _ in range(20)]
for thread in threads:
    thread.start()
time.sleep(0.2)
done.set()
for thread in threads:
    thread.join()
assert held[0] <= 64, f"{held[0]} descriptors"
print("held")
