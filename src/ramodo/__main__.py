"""`python -m ramodo` is the command `ramodo`."""

from __future__ import annotations

from .cli import main

if __name__ == "__main__":
    main()
