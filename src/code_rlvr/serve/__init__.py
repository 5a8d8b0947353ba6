"""The verifier over HTTP: the command ``code-rlvr serve``.

    run            start and stop, signals; `address`: socket and token
      └── app        paths, statuses, bodies of bounded size
            ├── admission  how much may wait, and what is counted
            └── service    from the bytes of a request to the JSON of an answer, in threads
                  └── requests   what a request may hold; limits clamped to the server's

Covered: one process on one machine.  Not covered: the client (`remote_judge`), encryption (a proxy's work).
"""
