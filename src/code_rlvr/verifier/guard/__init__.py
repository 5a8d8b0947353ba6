"""What runs inside the sandbox's processes, on the standard library alone.

    judge ── Worker (worker.py)
      └─ keeper        waits, and ends everything if the judge's process ends
           └─ zygote       pid 1 of its own namespaces; confined; has imported what programs usually import
                └─ supervisor   one per program: compiles it, never runs it, holds its limits
                     └─ child       one per test: confined once more, runs the program, `_exit`s

The package is started by an interpreter of the user's choice and imported there as `guard`: it imports nothing
of `code_rlvr`, nor `typing`, and keeps to what Python 3.9 understands.

| file | what it is |
|---|---|
| `kernel` | system calls for which Python has no function (ctypes) |
| `filters` | which system calls may be made (seccomp programs) |
| `keeper` | namespaces; ends everything if the judge's process ends |
| `zygote` | confinement, the loop over programs |
| `supervisor` | compiles one program, forks, watches and reports on its tests |
| `child` | turns a fresh fork into the program's process, and runs the program |
| `files`, `limits`, `cgroup` | memory files of a test, resource limits, a worker's control group |
| `messages` | how judge and guard talk |
| `values`, `decoding`, `array`, `opaque` | how arguments and return values cross |
| `dialogue`, `frames`, `serving` | how a solution answers a checker's calls |
| `stubs`, `remote`, `raised`, `recorder`, `pytest_stand_in` | how a checker makes them, and reports on its assertions |

Nothing secret is here: no expected output ever enters, so a program that reads every byte of these processes
learns its own input.  What is reported about a child comes from the kernel, never from the child.
"""
