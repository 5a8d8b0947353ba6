# EXITED
import atexit, gc, os as system, select, socket, threading, time
for module, names in ((system, ("fork", "waitpid", "wait4", "kill", "write", "read", "pread")), (time, ("monotonic",)),
                      (select, ("poll",)), (threading, ("_shutdown",))):
    for name in names:
        if name != "write":
            setattr(module, name, lambda *a, **k: 0)
gc.disable()
gc.set_threshold(1)
print("held", flush=True)
