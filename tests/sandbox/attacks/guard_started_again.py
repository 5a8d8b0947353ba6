# EXITED
# Calls the guard's own functions from inside of the program.
import types
guard = [module for name, module in sys.modules.items() if name.startswith("guard.")]
functions = {name: value for module in guard for name, value in vars(module).items() if isinstance(value, types.FunctionType)}
if "unshare" in functions:
    refused(functions["unshare"], 0)
if "mount" in functions:
    refused(functions["mount"], "none", "/mnt", "tmpfs", 0)
if "kill_group" in functions:
    refused(functions["kill_group"], os.getppid())
if "restrict_self" in functions:
    refused(functions["restrict_self"], 1, [])
if "new_file" in functions:
    refused(functions["new_file"], "x")
print("held")
