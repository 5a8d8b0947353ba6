# EXITED 1
# Modules, frames, objects and memory of the guard: to be found in this copy perhaps, of no use outside of it.
import gc
hits = []
for thing in gc.get_objects():
    if type(thing).__name__ in ("Supervisor", "socket", "TestFiles"):
        hits.append(thing)
frame = sys._getframe()
while frame is not None:
    hits += [value for value in frame.f_locals.values() if type(value).__name__ in ("Supervisor", "socket", "TestFiles")]
    hits += [value for value in frame.f_globals.values() if type(value).__name__ in ("Supervisor", "socket", "TestFiles")]
    frame = frame.f_back
for thing in hits:
    if type(thing).__name__ == "Supervisor":
        thing.program["cpu_s"] = thing.program["memory_mib"] = 10**6
        thing.program["output_bytes"] = 1 << 40
        thing.codes[:] = [compile("print('tampered')", "<x>", "exec")]
        thing.shared["input"] = lambda: "tampered"
        refused(thing.control.send, b"forged", also=(errno.EBADF,))
        type(thing).watch = lambda *a: ""
for name in [name for name in sys.modules if name.partition(".")[0] == "guard"]:
    module = sys.modules.pop(name)
    vars(module).clear()
sys.stdout.write("held\n")
