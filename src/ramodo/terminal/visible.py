"""The former name of `escaping.escape_controls`."""

from .escaping import escape_controls as visible

__all__ = ["visible"]
