"""A real server on loopback, in a thread of this process, as long as a test needs it."""

import threading
import time
from contextlib import contextmanager

from ramodo.web.running import server_of


@contextmanager
def serving(app, listening):
    """The server while it runs."""
    server = server_of(app)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
    thread.start()
    try:
        while not server.started:
            time.sleep(0.005)
        yield server
    finally:
        server.should_exit = True
        thread.join()
