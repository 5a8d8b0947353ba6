# EXITED
import builtins, gc, importlib, types
write, leave = os.write, os._exit
builtins.compile = builtins.exec = builtins.open = builtins.__import__ = lambda *a, **k: None
builtins.BaseException = builtins.SystemExit = builtins.OSError = None
for module in list(sys.modules.values()):
    for name in list(vars(module)):
        if module not in (os, ctypes) and not name.startswith("__"):
            try:
                setattr(module, name, None)
            except Exception:
                pass
write(1, b"held\n")
leave(0)
