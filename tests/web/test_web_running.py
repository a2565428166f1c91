"""How a server ends."""

import signal
import subprocess
import sys

import httpx
import pytest

PROGRAM = """
import asyncio
from starlette.responses import PlainTextResponse
from starlette.routing import Route
from ramodo.web import Access, Place, application, run

async def slow(request):
    print("asked", flush=True)
    await asyncio.sleep(0.5)
    return PlainTextResponse("done")

place, listening = Place().opened()
access = Access("t" * 20)
run(application([Route("/slow", slow)], place, access), listening, lambda: print(place.address, flush=True))
print("ended", flush=True)
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_lets_requests_end(number, tmp_path):
    process = subprocess.Popen(
        [sys.executable, "-c", PROGRAM], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    try:
        address = process.stdout.readline().strip()
        line = "import httpx, sys; print(httpx.get(sys.argv[1], headers={'authorization': 'Bearer ' + 't' * 20}).text)"
        asking = subprocess.Popen([sys.executable, "-c", line, f"{address}/slow"], stdout=subprocess.PIPE, text=True)
        assert process.stdout.readline() == "asked\n"
        process.send_signal(number)
        assert asking.communicate(timeout=30)[0] == "done\n"
        out, err = process.communicate(timeout=30)
        assert (process.returncode, out, err) == (0, "ended\n", "")
        with pytest.raises(httpx.ConnectError):
            httpx.get(address)
    finally:
        process.kill()
