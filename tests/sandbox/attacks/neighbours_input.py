# EXITED
# Another program runs at this moment on another worker, and so does its guard; none of it is to be seen.
import gc
secret = "neighbour" + "-" + outside["token"][::-1]
for pid in range(1, 5):
    refused(os.open, f"/proc/{pid}/fd/0", os.O_RDONLY, also=(errno.ENOENT,) if pid != OWN else (errno.ENOENT,)) \
        if pid != OWN else None
for number in outside["neighbours"]:
    refused(os.open, f"/proc/{number}/fd/0", os.O_RDONLY, also=(errno.ENOENT,))
    refused(os.kill, number, 0)
    refused(call, 310, number, 0, 0, 0, 0, 0)
    refused(os.pidfd_open, number)
seen = [thing for thing in gc.get_objects() if isinstance(thing, (bytes, str)) and secret in str(thing)]
assert seen == []
print("held")
