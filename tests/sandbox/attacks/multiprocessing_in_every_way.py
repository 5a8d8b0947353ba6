# EXITED
import multiprocessing
from concurrent.futures import ProcessPoolExecutor
for method in ("fork", "spawn", "forkserver"):
    context = multiprocessing.get_context(method)
    process = context.Process(target=print)
    refused(process.start, also=(errno.ENOENT,))
def pooled():
    with ProcessPoolExecutor(1) as pool:
        return pool.submit(int).result()
refused(pooled, also=(errno.ENOENT,))
print("held")
