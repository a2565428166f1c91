"""Runs a command again and again and kills it at random moments; says what each kill left.

    python killing.py ROUNDS ONE.svm OTHER.svm COMMAND OPTIONS...

The command is loaded once and forked, so that most kills come while it writes.
"""

import os
import random
import signal
import sys
import time


def slow(function):
    """With time for a kill before and after it."""

    def called(*arguments, **named):
        time.sleep(0.01)
        result = function(*arguments, **named)
        time.sleep(0.01)
        return result

    return called


def forked(arguments):
    child = os.fork()
    if child:
        return child
    os.fsync, os.rename, os.replace = slow(os.fsync), slow(os.rename), slow(os.replace)
    os._exit(ran(*arguments))


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

    rounds, sources, command = int(sys.argv[1]), sys.argv[2:4], sys.argv[4:]
    ran(command[0], sources[0], *command[1:])  # which imports all that it needs
    begin = time.monotonic()
    assert ended(forked([command[0], sources[0], *command[1:]])) == 0
    longest, rng = time.monotonic() - begin, random.Random(0)
    for number in range(rounds):
        running = forked([command[0], sources[number % 2], *command[1:]])
        time.sleep(rng.random() * longest)
        os.kill(running, signal.SIGKILL)
        code = ended(running)
        if code == 0:  # the machine is less busy than it was
            longest /= 2
        print("killed" if code == -signal.SIGKILL else f"ended with {code}", flush=True)
        sys.stdin.readline()  # until what is left has been looked at
