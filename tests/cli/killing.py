"""Runs a command again and again and kills it while it writes; says what became of each run.

    python killing.py ROUNDS FOLDER ONE.svm OTHER.svm COMMAND OPTIONS...

A first run notes when the command asks the system for anything in FOLDER. Each later run is killed after one of these
calls, at a random moment before the next: every stretch between two calls gets its turn, however short it is, and
however busy the machine.
"""

import os
import random
import signal
import struct
import sys
import time
from itertools import count


def on_calls(folder, react):
    """Call `react` before each call of the system that names a path in the folder."""

    def hook(event, arguments):
        if (
            event.partition(".")[0] in ("open", "os", "shutil")
            and arguments
            and isinstance(arguments[0], str | os.PathLike)
        ):
            path = os.fspath(arguments[0])
            if path == folder or str(path).startswith(folder + os.sep):
                react()

    sys.addaudithook(hook)


def noted(folder, arguments):
    """When a whole run called the system; its end comes last."""
    reading, writing = os.pipe()

    def note():
        os.write(writing, struct.pack("d", time.monotonic()))

    child = os.fork()
    if not child:
        on_calls(folder, note)
        code = ran(*arguments)
        note()
        os._exit(code)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        times = pipe.read()
    assert ended(child) == 0
    return [moment for (moment,) in struct.iter_unpack("d", times)]


def killed(folder, arguments, step, delay):
    """The exit code of a run that a signal ends so many seconds after its call number `step`, without a word."""
    child = os.fork()
    if not child:
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        steps = count()
        on_calls(folder, lambda: next(steps) == step and signal.setitimer(signal.ITIMER_REAL, delay))
        os._exit(ran(*arguments))
    return ended(child)


def ran(*arguments):
    """The exit code of the command, in this process."""
    sys.argv = ["ramodo", *arguments]
    try:
        main()
    except SystemExit as end:
        return end.code or 0
    return 0


def ended(child):
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


if __name__ == "__main__":
    from ramodo.cli import main

    rounds, folder, sources, command = int(sys.argv[1]), sys.argv[2], sys.argv[3:5], sys.argv[5:]
    ran(command[0], sources[0], *command[1:])  # which imports all that it needs
    moments, rng = noted(folder, [command[0], sources[0], *command[1:]]), random.Random(0)
    n_steps = len(moments) - 1
    turns = [int((turn + rng.random()) * n_steps / rounds) for turn in range(rounds)]
    for number, step in enumerate(rng.sample(turns, rounds)):
        delay = max(1e-6, rng.random() * (moments[step + 1] - moments[step]))
        code = killed(folder, [command[0], sources[number % 2], *command[1:]], step, delay)
        print("killed" if code == -signal.SIGALRM else f"ended with {code}", flush=True)
        sys.stdin.readline()  # until what is left has been looked at
