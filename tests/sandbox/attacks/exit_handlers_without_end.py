# CPU_LIMIT or MEMORY_LIMIT
import atexit
def handler():
    atexit.register(handler)
atexit.register(handler)
print("held")
while True:
    pass
